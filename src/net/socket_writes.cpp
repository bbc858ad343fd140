// src/net/socket_writes.cpp: writes to a connected socket, and closes it.
#include <gyre/coro/misuse.hpp>
#include <gyre/io/kernel.hpp>
#include <gyre/net/bulk.hpp>
#include <gyre/net/descriptor_passing.hpp>
#include <gyre/net/send_file.hpp>
#include <gyre/net/socket_operations.hpp>

#include "last_error.hpp"
#include "note_written.hpp"
#include "transfer_error.hpp"

#include <sys/socket.h>

#include <algorithm>
#include <cerrno>

namespace gyre {

// ---- writing

namespace {
constexpr int after_cut_off = -1;  // a value of error_
// Copying so much costs the kernel more than a system call, and the memory it comes from is still in the cache.
constexpr std::size_t large = 8192;
constexpr std::size_t max_bytes_of_call = std::size_t{1} << 30U;
}  // namespace

// Points the request at the remaining bytes.
void socket_write_base::prepare() noexcept {
  if (kind_ == write_kind::bytes) [[likely]]
    length = static_cast<std::uint32_t>(std::min(max_bytes_of_call, total_ - done_));
  else if (kind_ == write_kind::buffers)
    static_cast<socket_write_vector_op&>(*this).point_at_rest();
  else
    static_cast<send_descriptors_op&>(*this).point_at_rest();
}

void socket_write_base::advance(std::size_t count) noexcept {
  done_ += count;
  if (count > 0) note_written(socket_state::of(*this), count);
  if (kind_ == write_kind::bytes) address = static_cast<std::byte*>(address) + count;
}

// ENOTCONN is not an error: the socket was connected, and there is no peer left to notify.
void socket_write_base::shut_down() noexcept {
  if (io::sockets().shutdown(target->fd, SHUT_WR) < 0 && errno != ENOTCONN) error_ = errno;
  if (error_ == 0) socket_state::of(*this).write_ended = true;
}

bool socket_write_base::try_now() noexcept {
  if (error_ != 0) return true;
  socket_state& socket = socket_state::of(*this);
  if (socket.write_cut) {
    error_ = after_cut_off;
    return true;
  }
  if constexpr (checks_everything) socket.expect_own_loop(name());
  if (socket.last_writer != nullptr) return false;
  if (kind_ == write_kind::shutdown) {
    shut_down();
    return true;
  }
  if (kind_ == write_kind::file) return static_cast<send_file_op&>(*this).try_file_now();
  if (kind_ == write_kind::pipe) return static_cast<socket_bulk_write_op&>(*this).drain_now();
  return transfer_now();
}

bool socket_write_base::transfer_now() noexcept {
  event_loop& loop = event_loop::current();
  if (total_ > 0 && total_ < large && loop.prefers_submission()) return false;
  while (done_ < total_ && target->writable) {
    long count = 0;
    if (kind_ == write_kind::bytes) [[likely]] {
      count = loop.backend().send_now(*target, address, std::min(max_bytes_of_call, total_ - done_));
      if (count == -EAGAIN) return false;
    } else {
      prepare();
      if (!loop.backend().attempt(*this)) return false;
      count = result;
    }
    if (count < 0) {
      error_ = static_cast<int>(-count);
      return true;
    }
    advance(static_cast<std::size_t>(count));
    if (some_) return true;
  }
  return done_ == total_;
}

void socket_write_base::start() noexcept {
  complete = call_member<&socket_write_base::on_complete>;
  socket_state& socket = socket_state::of(*this);
  if (!socket.is_of_running_loop()) [[unlikely]]
    stop_on_other_loop(name(), socket_state::kind);
  queued_ = true;
  const bool alone = socket.last_writer == nullptr;
  socket.append_writer(*this);
  if (alone) start_next(socket);
}

bool socket_write_base::finished() const noexcept {
  return error_ != 0 || stopped_ || done_ == total_ || (some_ && done_ > 0);
}

// Starts the write at the head of the queue. A write that ends without the kernel resumes from the ready queue.
void socket_write_base::start_next(socket_state& socket) noexcept {
  while (socket_write_base* const head = socket.first_writer()) {
    if (socket.write_cut)
      head->error_ = after_cut_off;
    else if (head->kind_ == write_kind::shutdown)
      head->shut_down();
    else {
      head->submit_rest();
      return;
    }
    socket.remove_writer(*head);
    head->finish_soon();
  }
}

void socket_write_base::submit_rest() noexcept {
  if (kind_ == write_kind::file) return static_cast<send_file_op&>(*this).send_rest();
  if (kind_ == write_kind::pipe) return static_cast<socket_bulk_write_op&>(*this).wait_for_room();
  prepare();
  event_loop::current().backend().submit(*this);
}

void socket_write_base::step_ended(int outcome) noexcept {
  if (outcome >= 0)
    advance(static_cast<std::size_t>(outcome));
  else if (outcome == -ECANCELED)
    stopped_ = true;
  else
    error_ = -outcome;

  socket_state& socket = socket_state::of(*this);
  if (!finished()) {
    start_next(socket);  // this one is still the head of the queue
    return;
  }
  if (!some_ && done_ > 0 && done_ < total_) socket.write_cut = true;
  socket.remove_writer(*this);
  start_next(socket);
  socket.note_quiet();
  proceed(*this);  // last: the resumed task may destroy the stream
}

void socket_write_base::on_cancel() noexcept {
  if (!queued_ || stopped_) return;
  stopped_ = true;
  socket_state& socket = socket_state::of(*this);
  if (socket.first_writer() != this) {
    socket.remove_writer(*this);
    return finish_soon();
  }
  event_loop::current().backend().cancel(*this);  // no effect if it has ended but not reported it
  if (kind_ == write_kind::file) static_cast<send_file_op&>(*this).cancel_call();
}

std::expected<std::size_t, std::error_code> socket_write_base::take_result() {
  if (error_ == after_cut_off) {
    socket_state::of(*this).expect_open(name());
    return std::unexpected(make_error_code(stream_errc::write_cut_off));
  }
  if (error_ != 0) return std::unexpected(errno_code(error_));
  if (done_ == total_ && !(stopped_ && kind_ == write_kind::shutdown)) return done_;
  if (some_ && done_ > 0) return done_;
  return std::unexpected(cancel_error());
}

std::size_t socket_write_base::result_or_throw() { return value_or_throw(*this); }

void socket_write_base::fail(std::error_code reason) const {
  throw_transfer_error(reason, name(), socket_state::of(*this), done_);
}

const char* socket_write_base::name() const noexcept {
  return kind_ == write_kind::shutdown ? "shutdown_write"
         : kind_ == write_kind::file   ? "send_file"
         : some_                       ? "write_some"
                                       : "write_all";
}

socket_write_vector_op::socket_write_vector_op(socket_state& socket, std::span<const io::const_buffer> buffers,
                                               bool some) noexcept
    : socket_write_base(socket, write_kind::buffers, 0, some), buffers_(buffers) {
  for (const io::const_buffer& each : buffers) total_ += each.size;
}

void socket_write_vector_op::point_at_rest() noexcept {
  std::size_t skip = done();
  std::size_t count = 0;
  for (const io::const_buffer& each : buffers_) {
    if (skip >= each.size) {
      skip -= each.size;
      continue;
    }
    window_[count++] = {static_cast<const std::byte*>(each.data) + skip, each.size - skip};
    skip = 0;
    if (count == std::size(window_)) break;
  }
  message_ = {.buffers = window_, .buffer_count = count};
  address = &message_;
}

std::expected<void, std::error_code> socket_shutdown_op::take_result() {
  if (auto written = socket_write_base::take_result(); !written) return std::unexpected(written.error());
  return {};
}

// ---- closing

void socket_close_op::start() noexcept {
  socket_->expect_own_loop("close");
  socket_->closing = true;
  socket_->closer = this;
  socket_->cancel_all();
  event_loop::current().backend().cancel(socket_->received);
  socket_->note_quiet();
}

// Cancelled operations have been resumed by now: they were in the ready queue before this one.
void socket_close_op::await_resume() noexcept {
  if (socket_ != nullptr) socket_.release()->release();
}

}  // namespace gyre
