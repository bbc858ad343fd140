// src/net/bulk.cpp: pieces of bulk, in pipes or large buffers.
#include <gyre/net/bulk.hpp>

#include "cancelled_read.hpp"
#include "last_error.hpp"
#include "note_written.hpp"
#include "transfer_error.hpp"

#include <algorithm>
#include <cerrno>

namespace gyre {

namespace {

// The kernel, a filter of the program, or the kind of socket does not permit it, or memory is short: nothing has
// happened to the stream. Every other error is one of the stream, and is reported only once.
bool is_refusal(int error) noexcept {
  return error == EINVAL || error == EPERM || error == EACCES || error == ENOSYS || error == EOPNOTSUPP ||
         error == ENOMEM;
}

}  // namespace

// ---- the piece

bool socket_bulk::begins_with(std::size_t size) noexcept {
  io::backend& backend = performer();
  if (!is_bulk(size)) {
    note_size(size);
    return false;
  }
  if (!std::exchange(active_, true)) backend.pipes().bulk_began();
  small_ = 0;
  return goes_on();
}

void socket_bulk::end() noexcept {
  if (std::exchange(active_, false)) performer().pipes().bulk_ended();
}

void socket_bulk::drop_piece() noexcept {
  if (pipe_ != nullptr) performer().pipes().give_back(*std::exchange(pipe_, nullptr));
  buffer_.release();
  size_ = 0;
}

// A stream whose pieces stay small is better off with the buffers that wait for it.
void socket_bulk::note_size(std::size_t size) noexcept {
  constexpr std::size_t small = std::size_t{64} << 10U;
  constexpr std::uint8_t patience = 8;
  if (size >= small)
    small_ = 0;
  else if (++small_ == patience)
    end();
}

// Returns the size, 0 when there is no piece (for a reason that receive() will find), or -errno.
int socket_bulk::take_piece() noexcept {
  io::backend& backend = performer();
  io::descriptor& source = from_->descriptor();
  int count = 0;
  if (!backend.found_small()) pipe_ = backend.pipes().take();
  if (pipe_ != nullptr) {
    backend.count_direct_call();
    constexpr std::uint64_t pipe_size = io::pipe_pool::pipe_size;
    count = pipe_->fill_from(source, static_cast<std::uint32_t>(std::min(max_, pipe_size)));
    if (count < 0 && is_refusal(-count)) {
      drop_piece();
      backend.pipes().pause();
      count = 0;
    }
  }
  if (pipe_ == nullptr) count = fill_buffer(source);
  if (count > 0) {
    size_ = static_cast<std::uint32_t>(count);
    note_size(size_);
    return count;
  }
  drop_piece();
  if (count == -EAGAIN && source.hangup) {  // splice(2) does not get past urgent data, as a read does
    source.readable = true;
    count = 0;
  }
  if (count != -EAGAIN) end();
  return count;
}

// Returns the count, 0 at the end of the stream or when no buffer is free, or -errno.
int socket_bulk::fill_buffer(io::descriptor& source) noexcept {
  io::backend& backend = performer();
  io::buffer_pool& pool = backend.buffers();
  const std::uint32_t index = pool.take_large();
  if (index == io::buffer_pool::none) return 0;
  backend.count_direct_call();
  const std::uint64_t room = pool.large_size();
  const long count = backend.receive_now(source, pool.data(index), static_cast<std::size_t>(std::min(max_, room)));
  buffer_ = buffer_lease(pool, index, {pool.data(index), static_cast<std::size_t>(std::max(count, 0L))});
  return static_cast<int>(count);
}

// ---- receiving

socket_bulk_receive_op::socket_bulk_receive_op(socket_bulk& bulk) noexcept : bulk_(&bulk) {
  code = io::opcode::wait_bulk;
  target = &bulk.from_->descriptor();
}

// Bytes that the queue has received come first, and the queue must be idle before anything else is read.
bool socket_bulk_receive_op::try_now() noexcept {
  bulk_->drop_piece();
  socket_state& socket = socket_state::of(*this);
  if (socket.waiting_reader != nullptr) return false;
  if constexpr (checks_everything) socket.expect_own_loop("receive");
  if (!bulk_->goes_on()) return true;
  if (!socket.received.readable()) return false;
  socket.received.stop();
  return true;
}

void socket_bulk_receive_op::start() noexcept {
  complete = call_member<&socket_bulk_receive_op::on_complete>;
  socket_state& socket = socket_state::of(*this);
  if (socket.received.armed())
    socket.wait_until_stopped(*this);
  else
    wait_for_bytes();
}

void socket_bulk_receive_op::wait_for_bytes() noexcept { socket_state::of(*this).read_directly(*this, *this); }

void socket_bulk_receive_op::on_cancel() noexcept {
  socket_state& owner = socket_state::of(*this);
  if (owner.waiting_reader != this || cancelled_) return;
  cancelled_ = true;
  end_cancelled(*this, owner.stop_waiting(*this));
}

// Returns false when it has to wait again.
bool socket_bulk_receive_op::take_piece() noexcept {
  const int count = bulk_->take_piece();
  if (count == -EAGAIN) return false;
  if (count < 0) error_ = -count;
  return true;
}

void socket_bulk_receive_op::on_complete() noexcept {
  if (!cancelled_ && result >= 0 && !take_piece()) {
    event_loop::current().backend().submit(*this);
    return;
  }
  socket_state::of(*this).reader_ended();
  proceed(*this);
}

bool socket_bulk_receive_op::fully_succeeded() const noexcept { return bulk_->size_ > 0; }

std::size_t socket_bulk_receive_op::await_resume() { return value_or_throw(*this); }

std::expected<std::size_t, std::error_code> socket_bulk_receive_op::take_result() {
  if (error_ != 0) return std::unexpected(errno_code(error_));
  if (cancelled_ && bulk_->size_ == 0) return std::unexpected(cancel_error());
  return bulk_->size_;
}

void socket_bulk_receive_op::fail(std::error_code reason) const {
  throw_transfer_error(reason, "receive", socket_state::of(*this), 0);
}

// ---- writing

socket_bulk_write_op::socket_bulk_write_op(socket_bulk& bulk) noexcept
    : socket_write_base(*bulk.to_, bulk.pipe_ != nullptr ? write_kind::pipe : write_kind::bytes, bulk.size_),
      pipe_(bulk.pipe_) {
  address = bulk.buffer_.data();
}

bool socket_bulk_write_op::drain_now() noexcept {
  socket_state& socket = socket_state::of(*this);
  while (done() < total_) {
    event_loop::current().backend().count_direct_call();
    const int count = pipe_->drain_to(*target);
    if (count == -EAGAIN) return false;
    if (count < 0) {
      refuse(-count);
      // If the connection still works, data written next would be taken for the rest of this piece.
      if (done() > 0) socket.write_cut = true;
      return true;
    }
    skip(static_cast<std::size_t>(count));
    note_written(socket, static_cast<std::size_t>(count));
  }
  return true;
}

void socket_bulk_write_op::wait_for_room() noexcept {
  complete = call_member<&socket_bulk_write_op::on_room>;
  length = io::found_no_room;
  event_loop::current().backend().submit(*this);
}

void socket_bulk_write_op::on_room() noexcept {
  if (result < 0)
    step_ended(result);
  else if (stopped())
    step_ended(-ECANCELED);
  else if (drain_now())
    step_ended(0);
  else
    wait_for_room();
}

}  // namespace gyre
