// src/net/socket_reads.cpp: reading from a connected socket.
#include <gyre/coro/misuse.hpp>
#include <gyre/net/socket_operations.hpp>

#include "cancelled_read.hpp"
#include "last_error.hpp"
#include "transfer_error.hpp"

#include <algorithm>
#include <cerrno>

namespace gyre {

// ---- receive

void socket_receive_op::start() noexcept { socket_->wait_for_received(*this, socket_state::reading::leases); }

void socket_receive_op::on_cancel() noexcept {
  if (!socket_->stop_waiting(*this)) return;  // it has its data: success beats cancel
  cancelled_ = true;
  complete = call_member<&socket_receive_op::on_cancelled>;
  event_loop::current().schedule(*this);
}

void socket_receive_op::on_cancelled() noexcept {
  socket_->reader_ended();
  proceed(*this);
}

buffer_lease socket_receive_op::await_resume() {
  if (socket_->received.has_bytes()) [[likely]] {
    buffer_lease lease = socket_->received.take();
    socket_->reader_took();
    return lease;
  }
  return value_or_throw(*this);
}

std::expected<buffer_lease, std::error_code> socket_receive_op::take_result() {
  io::receive_queue& received = socket_->received;
  if (received.has_bytes()) {
    buffer_lease lease = received.take();
    socket_->reader_took();
    return lease;
  }
  const int end = socket_->true_end(received.end());
  if (end < 0) return std::unexpected(errno_code(-end));
  if (end != io::receive_queue::open) return buffer_lease();
  if (!cancelled_) socket_->stop_for_two_readers("receive");  // the other reader took the data for this one
  return std::unexpected(cancel_error());
}

void socket_receive_op::fail(std::error_code reason) const { throw_transfer_error(reason, "receive", *socket_, 0); }

// ---- read_some, read_exactly

void socket_read_op::prepare() noexcept {
  constexpr std::size_t max_length = std::size_t{1} << 30U;
  address = buffer_.data() + done_;
  length = static_cast<std::uint32_t>(std::min(max_length, buffer_.size() - done_));
}

// Takes the bytes that a multishot receive has queued. Returns true when the operation is finished.
bool socket_read_op::take_queued() noexcept {
  io::receive_queue& received = socket_state::of(*this).received;
  done_ += received.copy_to(buffer_.subspan(done_));
  if (has_enough()) return true;
  end_ = received.end();
  return end_ != io::receive_queue::open;
}

// Takes over the result of its own request. Returns true when the operation is finished.
bool socket_read_op::absorb_result() noexcept {
  if (result > 0)
    done_ += static_cast<std::size_t>(result);
  else if (result != -ECANCELED)
    end_ = result;
  return cancelled_ || has_enough() || end_ != io::receive_queue::open;
}

bool socket_read_op::try_now() noexcept {
  if (buffer_.empty()) return true;
  socket_state& socket = socket_state::of(*this);
  if (socket.waiting_reader != nullptr) return false;
  if constexpr (checks_everything) socket.expect_own_loop(name());
  if (!read_now()) return false;
  socket.reader_took();
  return true;
}

// Reads without waiting. Returns true when the operation is finished.
bool socket_read_op::read_now() noexcept {
  if (take_queued()) return true;
  if (socket_state::of(*this).received.armed()) return false;
  while (target->readable) {
    prepare();
    if (!event_loop::current().backend().attempt(*this)) return false;
    if (absorb_result()) return true;
  }
  return false;
}

void socket_read_op::start() noexcept {
  complete = call_member<&socket_read_op::on_complete>;
  socket_state& socket = socket_state::of(*this);
  if (socket.received.armed()) return socket.wait_for_received(*this, socket_state::reading::copies);
  prepare();
  socket.read_directly(*this, *this);
}

void socket_read_op::on_cancel() noexcept {
  socket_state& owner = socket_state::of(*this);
  if (owner.waiting_reader != this || cancelled_) return;
  cancelled_ = true;
  end_cancelled(*this, owner.stop_waiting(*this));
}

void socket_read_op::on_complete() noexcept {
  if (absorb_result()) {
    socket_state::of(*this).reader_ended();
    proceed(*this);
    return;
  }
  prepare();
  event_loop::current().backend().submit(*this);
}

std::size_t socket_read_op::await_resume() { return value_or_throw(*this); }

std::expected<std::size_t, std::error_code> socket_read_op::take_result() {
  if (has_enough()) return done_;
  if (cancelled_ && end_ == io::receive_queue::open) {
    socket_state::of(*this).received.put_back(buffer_.first(done_));
    done_ = 0;
    return std::unexpected(cancel_error());
  }
  if (const int end = socket_state::of(*this).true_end(end_); end < 0) return std::unexpected(errno_code(-end));
  if (exactly_) return std::unexpected(make_error_code(stream_errc::end_of_stream));
  return std::size_t{0};
}

void socket_read_op::fail(std::error_code reason) const {
  throw_transfer_error(reason, name(), socket_state::of(*this), done_);
}

}  // namespace gyre
