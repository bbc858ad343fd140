// src/net/socket_operations.cpp: reading, writing and closing a connected socket.
#include <gyre/io/attempt.hpp>
#include <gyre/io/missed_end.hpp>
#include <gyre/net/send_file.hpp>
#include <gyre/net/socket_operations.hpp>

#include "ended_early.hpp"
#include "note_written.hpp"

#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <string>

namespace gyre {
namespace {

[[noreturn]] void throw_for(std::error_code reason, const char* operation, const stream_socket& socket,
                            std::size_t done) {
  const std::string peer = socket.peer_name();
  if (done > 0 || reason == stream_errc::end_of_stream) throw incomplete_transfer(reason, operation, peer, done);
  throw io_error(reason, operation, peer);
}

void check_free_to_read(const stream_socket& socket) noexcept {
  if (socket.waiting_reader != nullptr) misuse("two tasks read from one stream at the same time");
}

template <class Op>
auto value_or_throw(Op& op) {
  auto outcome = op.take_result();
  if (!outcome) [[unlikely]]
    op.fail(outcome.error());
  return *std::move(outcome);
}

}  // namespace

// ---- receive

void socket_receive_op::start() noexcept {
  check_free_to_read(*socket_);
  socket_->waiting_reader = this;
  socket_->reader_copies = false;
  operation_base::cancel = [](cancellable& c) noexcept {
    auto& self = static_cast<socket_receive_op&>(c);
    if (self.socket_->waiting_reader != &self) return;  // it has its data: success beats cancel
    self.socket_->waiting_reader = nullptr;
    self.cancelled_ = true;
    self.finish_soon();
  };
  io::look_for_missed_end(socket_->received, event_loop::current().backend());
}

buffer_lease socket_receive_op::await_resume() {
  if (socket_->received.has_bytes()) [[likely]]
    return socket_->received.take();
  return value_or_throw(*this);
}

std::expected<buffer_lease, std::error_code> socket_receive_op::take_result() {
  io::receive_queue& received = socket_->received;
  if (received.has_bytes()) return received.take();
  if (cancelled_ && received.end() == io::receive_queue::open) return std::unexpected(ended_early(*this));
  if (received.end() < 0) return std::unexpected(errno_code(-received.end()));
  return buffer_lease();
}

void socket_receive_op::fail(std::error_code reason) const { throw_for(reason, "receive", *socket_, 0); }

// ---- read_some, read_exactly

void socket_read_op::prepare() noexcept {
  constexpr std::size_t most = std::size_t{1} << 30U;
  address = buffer_.data() + done_;
  length = static_cast<std::uint32_t>(std::min(most, buffer_.size() - done_));
}

// Takes what a multishot receive has left. True: the operation is finished.
bool socket_read_op::take_queued() noexcept {
  io::receive_queue& received = stream_socket::of(*this).received;
  done_ += received.copy_to(buffer_.subspan(done_));
  if (done_ >= minimum_) return true;
  end_ = received.end();
  return end_ != io::receive_queue::open;
}

// Takes over what a request of its own has brought. True: the operation is finished.
bool socket_read_op::absorb_result() noexcept {
  if (result > 0)
    done_ += static_cast<std::size_t>(result);
  else if (result != -ECANCELED)
    end_ = result;
  return cancelled_ || done_ >= minimum_ || end_ != io::receive_queue::open;
}

bool socket_read_op::try_now() noexcept {
  if (buffer_.empty()) {
    minimum_ = 0;
    return true;
  }
  if (take_queued()) return true;
  if (stream_socket::of(*this).received.armed() || !target->readable) return false;
  do {
    prepare();
    if (!io::attempt(*this)) return false;
    if (absorb_result()) return true;
  } while (target->readable);
  return false;
}

void socket_read_op::start() noexcept {
  stream_socket& socket = stream_socket::of(*this);
  check_free_to_read(socket);
  socket.waiting_reader = this;
  socket.reader_copies = true;
  operation_base::cancel = [](cancellable& c) noexcept {
    auto& self = static_cast<socket_read_op&>(c);
    stream_socket& owner = stream_socket::of(self);
    if (owner.waiting_reader != &self || self.cancelled_) return;
    self.cancelled_ = true;
    if (self.requested_) {  // in flight, or ended and about to say so
      event_loop::current().backend().cancel(self);
      return;
    }
    owner.waiting_reader = nullptr;
    self.finish_soon();
  };
  complete = [](io::completion& c) noexcept {
    static_cast<socket_read_op&>(static_cast<io::request&>(c)).request_ended();
  };
  if (socket.received.armed()) return io::look_for_missed_end(socket.received, event_loop::current().backend());
  requested_ = true;
  prepare();
  event_loop::current().backend().submit(*this);
}

void socket_read_op::request_ended() noexcept {
  if (absorb_result()) {
    stream_socket& socket = stream_socket::of(*this);
    socket.waiting_reader = nullptr;
    socket.note_quiet();
    proceed(*this);
    return;
  }
  prepare();
  event_loop::current().backend().submit(*this);
}

std::size_t socket_read_op::await_resume() { return value_or_throw(*this); }

std::expected<std::size_t, std::error_code> socket_read_op::take_result() {
  if (done_ >= minimum_) return done_;
  if (cancelled_ && end_ == io::receive_queue::open) {
    stream_socket::of(*this).received.put_back(buffer_.first(done_));
    done_ = 0;
    return std::unexpected(ended_early(*this));
  }
  if (end_ < 0) return std::unexpected(errno_code(-end_));
  if (minimum_ > 1) return std::unexpected(make_error_code(stream_errc::end_of_stream));
  return std::size_t{0};
}

void socket_read_op::fail(std::error_code reason) const { throw_for(reason, name(), stream_socket::of(*this), done_); }

// ---- writing

namespace {
constexpr int after_cut_off = -1;  // in error_
}

// Points the request at what is left.
void socket_write_base::prepare() noexcept {
  constexpr std::size_t most = std::size_t{1} << 30U;
  if (code == io::opcode::send_message) {
    auto& self = static_cast<socket_write_message_base&>(*this);
    self.point_at_rest_(self);
  } else {
    length = static_cast<std::uint32_t>(std::min(most, total_ - done_));
  }
}

void socket_write_base::advance(std::size_t count) noexcept {
  done_ += count;
  if (count > 0) note_written(stream_socket::of(*this));
  if (code == io::opcode::send) address = static_cast<std::byte*>(address) + count;
}

void socket_write_base::shut_down() noexcept {
  if (::shutdown(target->fd, SHUT_WR) < 0) error_ = errno;
}

bool socket_write_base::try_now() noexcept {
  if (error_ != 0) return true;
  stream_socket& socket = stream_socket::of(*this);
  if (socket.write_cut) {
    error_ = after_cut_off;
    return true;
  }
  if (socket.last_writer != nullptr) return false;
  if (extent_ == extent::nothing) {
    shut_down();
    return true;
  }
  if (extent_ == extent::file) return static_cast<send_file_op&>(*this).try_file_now();
  return transfer_now();
}

bool socket_write_base::transfer_now() noexcept {
  if (total_ > 0 && event_loop::current().prefers_submission()) return false;
  while (done_ < total_ && target->writable) {
    prepare();
    if (!io::attempt(*this)) return false;
    if (result < 0) {
      error_ = -result;
      return true;
    }
    advance(static_cast<std::size_t>(result));
    if (extent_ == extent::some) return true;
  }
  return done_ == total_;
}

void socket_write_base::start() noexcept {
  operation_base::cancel = &cancel_write;
  complete = &request_ended;
  queued_ = true;
  stream_socket& socket = stream_socket::of(*this);
  const bool alone = socket.last_writer == nullptr;
  socket.append_writer(*this);
  if (alone) start_next(socket);
}

bool socket_write_base::finished() const noexcept {
  return error_ != 0 || stopped_ || done_ == total_ || (extent_ == extent::some && done_ > 0);
}

// Starts the write at the head of the queue. Whatever ends without the kernel goes on from the ready queue.
void socket_write_base::start_next(stream_socket& socket) noexcept {
  while (socket_write_base* const head = socket.first_writer()) {
    if (socket.write_cut)
      head->error_ = after_cut_off;
    else if (head->extent_ == extent::nothing)
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
  if (extent_ == extent::file) return static_cast<send_file_op&>(*this).send_rest();
  prepare();
  event_loop::current().backend().submit(*this);
}

void socket_write_base::request_ended(io::completion& c) noexcept {
  auto& self = static_cast<socket_write_base&>(static_cast<io::request&>(c));
  self.step_ended(self.result);
}

void socket_write_base::step_ended(int outcome) noexcept {
  if (outcome >= 0)
    advance(static_cast<std::size_t>(outcome));
  else if (outcome == -ECANCELED)
    stopped_ = true;
  else
    error_ = -outcome;

  stream_socket& socket = stream_socket::of(*this);
  if (!finished()) {
    start_next(socket);  // the head of the queue is still this one
    return;
  }
  if (extent_ != extent::some && done_ > 0 && done_ < total_) socket.write_cut = true;
  socket.remove_writer(*this);
  start_next(socket);
  socket.note_quiet();
  proceed(*this);  // last: the resumed task may destroy the stream
}

void socket_write_base::cancel_write(cancellable& c) noexcept {
  auto& self = static_cast<socket_write_base&>(c);
  if (!self.queued_ || self.stopped_) return;
  self.stopped_ = true;
  stream_socket& socket = stream_socket::of(self);
  if (socket.first_writer() == &self) return self.cancel_in_flight();
  socket.remove_writer(self);
  self.finish_soon();
}

// No effect on what has ended and is about to say so.
void socket_write_base::cancel_in_flight() noexcept {
  event_loop::current().backend().cancel(*this);
  if (extent_ == extent::file) static_cast<send_file_op&>(*this).cancel_call();
}

std::expected<std::size_t, std::error_code> socket_write_base::take_result() {
  if (error_ == after_cut_off) return std::unexpected(make_error_code(stream_errc::write_cut_off));
  if (error_ != 0) return std::unexpected(errno_code(error_));
  if (done_ == total_ && !(stopped_ && extent_ == extent::nothing)) return done_;
  if (extent_ == extent::some && done_ > 0) return done_;
  return std::unexpected(ended_early(*this));
}

std::size_t socket_write_base::result_or_throw() { return value_or_throw(*this); }

void socket_write_base::fail(std::error_code reason) const {
  const char* const name = extent_ == extent::nothing ? "shutdown_write"
                           : extent_ == extent::file  ? "send_file"
                           : extent_ == extent::some  ? "write_some"
                                                      : "write_all";
  throw_for(reason, name, stream_socket::of(*this), done_);
}

socket_write_vector_op::socket_write_vector_op(stream_socket& socket, std::span<const io::const_buffer> buffers,
                                               bool some) noexcept
    : socket_write_message_base(socket, 0, some ? extent::some : extent::all, &point_at_rest), buffers_(buffers) {
  for (const io::const_buffer& each : buffers) total_ += each.size;
}

void socket_write_vector_op::point_at_rest(socket_write_message_base& op) noexcept {
  auto& self = static_cast<socket_write_vector_op&>(op);
  std::size_t skip = self.done();
  std::size_t count = 0;
  for (const io::const_buffer& each : self.buffers_) {
    if (skip >= each.size) {
      skip -= each.size;
      continue;
    }
    self.window_[count++] = {static_cast<const std::byte*>(each.data) + skip, each.size - skip};
    skip = 0;
    if (count == std::size(self.window_)) break;
  }
  self.message_ = {};
  self.message_.buffers = self.window_;
  self.message_.buffer_count = count;
  self.address = &self.message_;
}

std::expected<void, std::error_code> socket_shutdown_op::take_result() {
  if (auto written = socket_write_base::take_result(); !written) return std::unexpected(written.error());
  return {};
}

// ---- closing

void socket_close_op::start() noexcept {
  operation_base::cancel = [](cancellable&) noexcept {};
  socket_->closing = true;
  socket_->closer = this;
  socket_->cancel_all();
  event_loop::current().backend().cancel(socket_->received);
  socket_->note_quiet();
}

// Operations that were cancelled have been resumed by now: they were in the ready queue before this one.
void socket_close_op::await_resume() noexcept {
  if (socket_ != nullptr) std::exchange(socket_, nullptr)->release();
}

}  // namespace gyre
