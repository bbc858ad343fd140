// src/loop/readiness.cpp: waits until any descriptor is readable or writable.
#include <gyre/coro/cancelled.hpp>
#include <gyre/io/io_error.hpp>
#include <gyre/io/owned_fd.hpp>
#include <gyre/loop/readiness.hpp>

#include <cerrno>
#include <string>
#include <utility>

namespace gyre {

readiness_op::~readiness_op() { expect_ended(*this, "while it waits for a descriptor"); }

bool readiness_op::try_now() noexcept { return event_loop::current().backend().attempt(*this); }

void readiness_op::start() noexcept {
  complete = call_member<&readiness_op::on_complete>;
  target = &descriptor_;
  event_loop::current().backend().submit(*this);
}

void readiness_op::on_cancel() noexcept {
  cancelled_ = true;
  event_loop::current().backend().cancel(*this);
}

void readiness_op::on_complete() noexcept {
  io::backend& backend = event_loop::current().backend();
  // A socket or another wait has registered the descriptor already. A duplicate can be registered beside it.
  if (result == -EEXIST && cancelled_) result = -ECANCELED;
  if (result == -EEXIST && duplicate_ < 0) {
    duplicate_ = owned_fd::duplicate_of(descriptor_.fd).release();
    if (duplicate_ >= 0) {
      std::swap(descriptor_.fd, duplicate_);  // errors name the number that the caller knows
      backend.submit(*this);
      return;
    }
    result = -errno;
  }
  backend.detach(descriptor_);
  if (duplicate_ >= 0) {
    std::swap(descriptor_.fd, duplicate_);
    owned_fd(std::exchange(duplicate_, -1)).close();
  }
  proceed(*this);
}

std::expected<void, std::error_code> readiness_op::take_result() const {
  if (result >= 0) return {};
  return std::unexpected(error_of(result));
}

void readiness_op::fail(std::error_code reason) const {
  throw io_error(reason, code == io::opcode::wait_readable ? "readable" : "writable", std::to_string(descriptor_.fd));
}

}  // namespace gyre
