// src/net/tcp_operations.cpp: reading, writing and closing a connected socket.
#include <gyre/io/attempt.hpp>
#include <gyre/net/tcp_operations.hpp>

#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <string>

namespace gyre {
namespace {

std::error_code errno_code(int negative) noexcept { return {-negative, std::generic_category()}; }

// The end of an operation that was cut short: by its scope, which throws, or by cancel_fd or its own time-out.
std::error_code ended_early(const operation_base& op) {
  if (op.scope_cancelled()) throw_cancelled();
  return std::make_error_code(std::errc::operation_canceled);
}

[[noreturn]] void throw_for(std::error_code reason, const char* operation, const tcp_socket& socket, std::size_t done) {
  const std::string peer = socket.peer.string();
  if (done > 0 || reason == stream_errc::end_of_stream) throw incomplete_transfer(reason, operation, peer, done);
  throw io_error(reason, operation, peer);
}

void check_free_to_read(const tcp_socket& socket) noexcept {
  if (socket.reader != nullptr) misuse("two tasks read from one tcp_stream at the same time");
}

}  // namespace

// ---- receive

void tcp_receive_op::start() noexcept {
  check_free_to_read(*socket_);
  socket_->reader = this;
  socket_->reader_advance = [](operation_base&) noexcept { return true; };
  operation_base::cancel = [](cancellable& c) noexcept {
    auto& self = static_cast<tcp_receive_op&>(c);
    if (self.socket_->reader != &self) return;  // it has its data: success beats cancel
    self.socket_->reader = nullptr;
    self.cancelled_ = true;
    self.finish_soon();
  };
}

std::expected<buffer_lease, std::error_code> tcp_receive_op::take_result() {
  io::receive_queue& received = socket_->received;
  if (received.has_bytes()) return received.take();
  if (cancelled_ && received.end() == io::receive_queue::open) return std::unexpected(ended_early(*this));
  if (received.end() < 0) return std::unexpected(errno_code(received.end()));
  return buffer_lease();
}

void tcp_receive_op::fail(std::error_code reason) const { throw_for(reason, "receive", *socket_, 0); }

// ---- read_some, read_exactly

void tcp_read_op::prepare() noexcept {
  constexpr std::size_t most = std::size_t{1} << 30U;
  code = io::opcode::receive;
  target = &socket_->descriptor;
  address = buffer_.data() + done_;
  length = static_cast<std::uint32_t>(std::min(most, buffer_.size() - done_));
}

// Takes what a multishot receive has left. True: the operation is finished.
bool tcp_read_op::take_queued() noexcept {
  io::receive_queue& received = socket_->received;
  done_ += received.copy_to(buffer_.subspan(done_));
  if (done_ >= minimum_) return true;
  end_ = received.end();
  return end_ != io::receive_queue::open;
}

// Takes over what a request of its own has brought. True: the operation is finished.
bool tcp_read_op::absorb_result() noexcept {
  if (result > 0)
    done_ += static_cast<std::size_t>(result);
  else if (result != -ECANCELED)
    end_ = result;
  return cancelled_ || done_ >= minimum_ || end_ != io::receive_queue::open;
}

bool tcp_read_op::try_now() noexcept {
  if (buffer_.empty()) {
    minimum_ = 0;
    return true;
  }
  if (take_queued()) return true;
  if (socket_->received.armed() || !socket_->descriptor.readable) return false;
  do {
    prepare();
    if (!io::attempt(*this)) return false;
    if (absorb_result()) return true;
  } while (socket_->descriptor.readable);
  return false;
}

void tcp_read_op::start() noexcept {
  check_free_to_read(*socket_);
  socket_->reader = this;
  socket_->reader_advance = [](operation_base& op) noexcept { return static_cast<tcp_read_op&>(op).take_queued(); };
  operation_base::cancel = [](cancellable& c) noexcept {
    auto& self = static_cast<tcp_read_op&>(c);
    if (self.socket_->reader != &self || self.cancelled_) return;
    self.cancelled_ = true;
    if (self.requested_) {  // in flight, or ended and about to say so
      event_loop::current().backend().cancel(self);
      return;
    }
    self.socket_->reader = nullptr;
    self.finish_soon();
  };
  io::request::complete = [](io::completion& c) noexcept {
    static_cast<tcp_read_op&>(static_cast<io::request&>(c)).request_ended();
  };
  if (socket_->received.armed()) return;
  requested_ = true;
  prepare();
  event_loop::current().backend().submit(*this);
}

void tcp_read_op::request_ended() noexcept {
  if (absorb_result()) {
    socket_->reader = nullptr;
    socket_->note_quiet();
    proceed(*this);
    return;
  }
  prepare();
  event_loop::current().backend().submit(*this);
}

std::expected<std::size_t, std::error_code> tcp_read_op::take_result() {
  if (done_ >= minimum_) return done_;
  if (cancelled_ && end_ == io::receive_queue::open) {
    socket_->received.put_back(buffer_.first(done_));
    done_ = 0;
    return std::unexpected(ended_early(*this));
  }
  if (end_ < 0) return std::unexpected(errno_code(end_));
  if (minimum_ > 1) return std::unexpected(make_error_code(stream_errc::end_of_stream));
  return std::size_t{0};
}

void tcp_read_op::fail(std::error_code reason) const { throw_for(reason, name(), *socket_, done_); }

// ---- writing

bool tcp_write_base::try_now() noexcept {
  tcp_socket& owner = *socket;
  target = &owner.descriptor;
  if (owner.write_cut) {
    failure = stream_errc::write_cut_off;
    return true;
  }
  if (owner.first_writer != nullptr) return false;
  if (prepare == nullptr) {
    if (::shutdown(owner.descriptor.fd, SHUT_WR) < 0) failure = errno_code(-errno);
    return true;
  }
  if (event_loop::current().prefers_submission()) return false;
  while (done < total && target->writable) {
    prepare(*this);
    if (!io::attempt(*this)) return false;
    if (result < 0) {
      failure = errno_code(result);
      return true;
    }
    done += static_cast<std::size_t>(result);
    if (partial_is_enough) return true;
  }
  return done == total;
}

void tcp_write_base::start() noexcept {
  operation_base::cancel = &cancel_write;
  io::request::complete = &request_ended;
  queued = true;
  tcp_socket& owner = *socket;
  const bool alone = owner.first_writer == nullptr;
  (alone ? owner.first_writer : owner.last_writer->next_writer) = this;
  owner.last_writer = this;
  if (alone) start_next(owner);
}

bool tcp_write_base::finished() const noexcept {
  return failure || stopped || done == total || (partial_is_enough && done > 0);
}

// Starts the write at the head of the queue. Whatever ends without the kernel goes on from the ready queue.
void tcp_write_base::start_next(tcp_socket& socket) noexcept {
  while (socket.first_writer != nullptr) {
    auto& head = static_cast<tcp_write_base&>(*socket.first_writer);
    if (socket.write_cut)
      head.failure = stream_errc::write_cut_off;
    else if (head.prepare == nullptr) {
      if (::shutdown(socket.descriptor.fd, SHUT_WR) < 0) head.failure = errno_code(-errno);
    } else {
      head.prepare(head);
      event_loop::current().backend().submit(head);
      return;
    }
    socket.first_writer = head.next_writer;
    head.queued = false;
    head.finish_soon();
  }
}

void tcp_write_base::request_ended(io::completion& c) noexcept {
  auto& self = static_cast<tcp_write_base&>(static_cast<stream_writer&>(static_cast<io::request&>(c)));
  if (self.result >= 0)
    self.done += static_cast<std::size_t>(self.result);
  else if (self.result == -ECANCELED)
    self.stopped = true;
  else
    self.failure = errno_code(self.result);

  tcp_socket& owner = *self.socket;
  if (!self.finished()) {
    start_next(owner);  // the head of the queue is still this one
    return;
  }
  if (!self.partial_is_enough && self.done > 0 && self.done < self.total) owner.write_cut = true;
  owner.first_writer = self.next_writer;
  self.queued = false;
  start_next(owner);
  owner.note_quiet();
  self.proceed(self);  // last: the resumed task may destroy the stream
}

void tcp_write_base::cancel_write(cancellable& c) noexcept {
  auto& self = static_cast<tcp_write_base&>(c);
  if (!self.queued || self.stopped) return;
  self.stopped = true;
  if (self.where == io::phase::in_flight) {
    event_loop::current().backend().cancel(self);
    return;
  }
  tcp_socket& owner = *self.socket;
  if (owner.first_writer == &self) return;  // its request has ended and is about to say so
  stream_writer* before = owner.first_writer;
  while (before->next_writer != &self) before = before->next_writer;
  before->next_writer = self.next_writer;
  if (owner.last_writer == &self) owner.last_writer = before;
  self.queued = false;
  self.finish_soon();
}

std::expected<std::size_t, std::error_code> tcp_write_base::take_result() {
  if (failure) return std::unexpected(failure);
  if (done == total && !(stopped && prepare == nullptr)) return done;
  if (partial_is_enough && done > 0) return done;
  return std::unexpected(ended_early(*this));
}

void tcp_write_base::fail(std::error_code reason) const {
  const char* const name = prepare == nullptr ? "shutdown_write" : partial_is_enough ? "write_some" : "write_all";
  throw_for(reason, name, *socket, done);
}

tcp_write_vector_op::tcp_write_vector_op(tcp_socket& target_socket, std::span<const io::const_buffer> buffers,
                                         bool some) noexcept
    : tcp_write_base(target_socket, 0, some), buffers_(buffers) {
  for (const io::const_buffer& each : buffers) total += each.size;
  code = io::opcode::send_message;
  prepare = &point_at_rest;
}

void tcp_write_vector_op::point_at_rest(stream_writer& w) noexcept {
  auto& self = static_cast<tcp_write_vector_op&>(w);
  std::size_t skip = self.done;
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

std::expected<void, std::error_code> tcp_shutdown_op::take_result() {
  if (auto written = tcp_write_base::take_result(); !written) return std::unexpected(written.error());
  return {};
}

// ---- closing

void tcp_close_op::start() noexcept {
  operation_base::cancel = [](cancellable&) noexcept {};
  socket_->closing = true;
  socket_->closer = this;
  socket_->cancel_all();
  event_loop::current().backend().cancel(socket_->received);
  socket_->note_quiet();
}

// Operations that were cancelled have been resumed by now: they were in the ready queue before this one.
void tcp_close_op::await_resume() noexcept {
  if (socket_ != nullptr) std::exchange(socket_, nullptr)->release();
}

}  // namespace gyre
