// src/coro/exception_group.cpp: several exceptions that occurred together.
#include <gyre/coro/cancelled.hpp>
#include <gyre/coro/exception_group.hpp>

#include <algorithm>
#include <atomic>
#include <memory>
#include <new>
#include <string>
#include <utility>
#include <vector>

namespace gyre {

struct exception_group::shared {
  std::atomic<int> references{1};
  std::vector<std::exception_ptr> failures;
  std::string text;

  void release() noexcept {
    if (references.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }
};

namespace {

std::string message_of(const std::exception_ptr& failure) {
  try {
    std::rethrow_exception(failure);
  } catch (const std::exception& error) {
    return error.what();
  } catch (const cancelled& error) {
    return error.what();
  } catch (...) {  // only described here: the exception itself stays in the group
    return "exception of unknown type";
  }
}

}  // namespace

exception_group::exception_group(const exception_group& other) noexcept
    : std::exception(other), shared_(other.shared_) {
  shared_->references.fetch_add(1, std::memory_order_relaxed);
}

exception_group& exception_group::operator=(const exception_group& other) noexcept {
  exception_group copy(other);
  std::swap(shared_, copy.shared_);
  return *this;
}

exception_group::~exception_group() { shared_->release(); }

const std::exception_ptr* exception_group::begin() const noexcept { return shared_->failures.data(); }
const std::exception_ptr* exception_group::end() const noexcept { return begin() + shared_->failures.size(); }
const char* exception_group::what() const noexcept { return shared_->text.c_str(); }

exception_collector::~exception_collector() {
  if (others_ != nullptr) others_->release();
}

// A body that awaits its failing child throws the very object that the child threw.
bool exception_collector::has(const std::exception_ptr& failure) const noexcept {
  if (others_ == nullptr) return first_ && first_ == failure;
  return std::ranges::find(others_->failures, failure) != others_->failures.end();
}

bool exception_collector::add(const std::exception_ptr& failure) noexcept {
  if (has(failure)) return true;
  if (empty()) {
    first_ = failure;
    return true;
  }
  try {
    if (others_ == nullptr) {
      auto group = std::make_unique<exception_group::shared>();
      group->failures = {first_, failure};
      others_ = group.release();
      first_ = nullptr;
    } else {
      others_->failures.push_back(failure);
    }
    return true;
  } catch (const std::bad_alloc&) {
    return false;
  }
}

void exception_collector::rethrow() {
  if (first_) std::rethrow_exception(std::exchange(first_, nullptr));
  if (others_ == nullptr) return;
  exception_group group(std::exchange(others_, nullptr));
  std::string& text = group.shared_->text;
  try {
    text = std::to_string(group.size()) + " tasks failed";
    const char* separator = ": ";
    for (const std::exception_ptr& failure : group) {
      text += std::exchange(separator, "; ");
      text += message_of(failure);
    }
  } catch (const std::bad_alloc&) {  // the text is shorter, but no failure is lost
  }
  throw group;
}

}  // namespace gyre
