// src/net/datagram_operations.cpp: sending and receiving datagrams.
#include <gyre/coro/cancelled.hpp>
#include <gyre/coro/misuse.hpp>
#include <gyre/io/attempt.hpp>
#include <gyre/net/datagram_operations.hpp>

#include "cancelled_read.hpp"
#include "last_error.hpp"

#include <netinet/in.h>
#include <netinet/udp.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

namespace gyre {
static_assert(datagram_control_room >= CMSG_SPACE(sizeof(int)));

std::uint16_t coalesced_segment_size(std::span<const std::byte> control) noexcept {
  cmsghdr header{};
  if (control.size() < CMSG_LEN(sizeof(int))) return 0;
  std::memcpy(&header, control.data(), sizeof(header));
  if (header.cmsg_level != SOL_UDP || header.cmsg_type != UDP_GRO) return 0;
  int size = 0;
  std::memcpy(&size, control.data() + CMSG_LEN(0), sizeof(size));
  return static_cast<std::uint16_t>(size);
}

bool was_truncated(std::uint32_t flags) noexcept { return (flags & MSG_TRUNC) != 0; }

// ---- sending

datagram_send_base::datagram_send_base(datagram_state& socket, std::span<const std::byte> bytes, const void* name,
                                       std::uint32_t name_length, std::uint16_t segment_size) noexcept
    : one_{bytes.data(), bytes.size()}, segment_size_(segment_size) {
  code = io::opcode::send_message;
  target = &socket.descriptor();
  set_name(name, name_length);
}

datagram_send_base::datagram_send_base(datagram_state& socket, std::span<const io::const_buffer> buffers,
                                       const void* name, std::uint32_t name_length) noexcept
    : buffers_(buffers) {
  code = io::opcode::send_message;
  target = &socket.descriptor();
  set_name(name, name_length);
}

void datagram_send_base::set_name(const void* name, std::uint32_t size) noexcept {
  name_length_ = std::min<std::uint32_t>(size, sizeof(name_));
  if (name_length_ > 0) std::memcpy(name_, name, name_length_);
}

void datagram_send_base::prepare() noexcept {
  message_ = {};
  if (name_length_ > 0) {
    message_.name = name_;
    message_.name_length = name_length_;
  }
  message_.buffers = buffers_.empty() ? &one_ : const_cast<io::const_buffer*>(buffers_.data());
  message_.buffer_count = buffers_.empty() ? 1 : buffers_.size();
  address = &message_;
  if (segment_size_ == 0) return;
  auto* const header = reinterpret_cast<cmsghdr*>(control_);
  header->cmsg_level = SOL_UDP;
  header->cmsg_type = UDP_SEGMENT;
  header->cmsg_len = CMSG_LEN(sizeof(segment_size_));
  std::memcpy(CMSG_DATA(header), &segment_size_, sizeof(segment_size_));
  message_.control = control_;
  message_.control_length = CMSG_SPACE(sizeof(segment_size_));
}

bool datagram_send_base::try_now() noexcept {
  const datagram_state& socket = datagram_state::of(*this);
  if (socket.first_sender != nullptr || !target->writable) return false;
  if constexpr (checks_everything) socket.expect_usable(name_of_send());
  if (!socket.waits_by_itself() && event_loop::current().prefers_submission()) return false;
  prepare();
  return io::attempt(*this);
}

void datagram_send_base::submit_first(datagram_state& socket) noexcept {
  if (socket.first_sender == nullptr) return;
  datagram_send_base& first = *socket.first_sender;
  if (socket.waits_by_itself() && first.name_length_ > 0) return socket.retry_soon();
  first.code = socket.waits_by_itself() ? io::opcode::wait_writable : io::opcode::send_message;
  first.prepare();
  event_loop::current().backend().submit(first);
}

void datagram_send_base::try_again() noexcept {
  prepare();
  datagram_state& socket = datagram_state::of(*this);
  if (!io::attempt(*this)) return socket.retry_soon();
  target->writable = true;
  unlink();
  submit_first(socket);
  finish_soon();  // a timer calls this, and no coroutine may be resumed by one
}

// Returns false when others have taken the room and this send waits again.
bool datagram_send_base::room_came() noexcept {
  code = io::opcode::send_message;
  if (result < 0 || io::attempt(*this)) return true;
  result = -ECANCELED;
  if (!cancelled_) submit_first(datagram_state::of(*this));
  return cancelled_;
}

void datagram_send_base::start() noexcept {
  datagram_state& socket = datagram_state::of(*this);
  socket.expect_usable(name_of_send());
  complete = call_member<&datagram_send_base::on_complete>;
  queued_ = true;
  const bool alone = socket.first_sender == nullptr;
  (alone ? socket.first_sender : socket.last_sender->next_sender_) = this;
  socket.last_sender = this;
  if (alone) submit_first(socket);
}

void datagram_send_base::on_cancel() noexcept {
  if (!queued_) return;
  datagram_state& owner = datagram_state::of(*this);
  const bool first = owner.first_sender == this;
  if (first && !owner.stop_retrying()) {
    cancelled_ = true;
    event_loop::current().backend().cancel(*this);
    return;
  }
  unlink();
  if (first) submit_first(owner);
  result = -ECANCELED;
  finish_soon();
}

void datagram_send_base::unlink() noexcept {
  queued_ = false;
  datagram_state& socket = datagram_state::of(*this);
  datagram_send_base* before = nullptr;
  for (datagram_send_base* each = socket.first_sender; each != this; each = each->next_sender_) before = each;
  (before == nullptr ? socket.first_sender : before->next_sender_) = next_sender_;
  if (socket.last_sender == this) socket.last_sender = before;
  next_sender_ = nullptr;
}

void datagram_send_base::on_complete() noexcept {
  if (code == io::opcode::wait_writable && !room_came()) return;
  datagram_state& socket = datagram_state::of(*this);
  unlink();
  submit_first(socket);
  proceed(*this);  // last: the resumed task may destroy the socket
}

std::size_t datagram_send_base::total() const noexcept {
  std::size_t size = one_.size;
  for (const io::const_buffer& each : buffers_) size += each.size;
  return size;
}

std::expected<std::size_t, std::error_code> datagram_send_base::take_result() const {
  if (result >= 0) return static_cast<std::size_t>(result);
  return std::unexpected(error_of(result));
}

void datagram_send_base::fail_with(std::error_code reason, std::string to) const {
  if (reason == std::errc::message_size) to += (to.empty() ? "" : ", ") + std::to_string(total()) + " bytes";
  throw io_error(reason, name_of_send(), to);
}

// ---- receiving into the caller's buffer

datagram_receive_base::datagram_receive_base(datagram_state& socket, std::span<std::byte> buffer) noexcept
    : buffer_(buffer) {
  code = io::opcode::receive_message;
  target = &socket.descriptor();
}

void datagram_receive_base::prepare() noexcept {
  piece_ = {buffer_.data(), buffer_.size()};
  message_ = {.name = name_,
              .name_length = sizeof(name_),
              .buffers = &piece_,
              .buffer_count = 1,
              .control = control_,
              .control_length = sizeof(control_)};
  address = &message_;
}

void datagram_receive_base::absorb_message() noexcept {
  if (result < 0) return;
  name_length_ = std::min<std::uint32_t>(message_.name_length, sizeof(name_));
  truncated_ = was_truncated(static_cast<std::uint32_t>(message_.flags));
  segment_size_ = coalesced_segment_size(std::span(control_, message_.control_length));
}

// Returns true when the receive is finished, by a datagram that receive() requested but did not take, or by an error.
bool datagram_receive_base::take_arrival() noexcept {
  datagram_state& socket = datagram_state::of(*this);
  if (const int failure = socket.take_failure(); failure != 0) {
    result = -failure;
    return true;
  }
  if (!socket.has_arrivals()) return false;
  const std::uint32_t arrived_buffer = socket.take_first();
  const io::message_view view = socket.arrival(arrived_buffer);
  const std::size_t size = std::min(buffer_.size(), view.payload.size());
  if (size > 0) std::memcpy(buffer_.data(), view.payload.data(), size);
  name_length_ = static_cast<std::uint32_t>(view.name.size());
  std::memcpy(name_, view.name.data(), view.name.size());
  truncated_ = size < view.payload.size() || was_truncated(view.flags);
  segment_size_ = coalesced_segment_size(view.control);
  result = static_cast<int>(size);
  socket.pool().release(arrived_buffer);
  return true;
}

bool datagram_receive_base::try_now() noexcept {
  datagram_state& socket = datagram_state::of(*this);
  if (socket.receiver != nullptr) return false;
  if constexpr (checks_everything) socket.expect_usable("receive_from");
  if (take_arrival()) return true;
  if (socket.receives_many() || !target->readable) return false;
  prepare();
  if (!io::attempt(*this)) return false;
  absorb_message();
  return true;
}

void datagram_receive_base::start() noexcept {
  complete = call_member<&datagram_receive_base::on_complete>;
  datagram_state& socket = datagram_state::of(*this);
  if (socket.receives_many()) return socket.wait_for_arrivals(*this, call_member<&datagram_receive_base::on_arrival>);
  prepare();
  socket.receive_directly(*this, *this);
}

void datagram_receive_base::on_cancel() noexcept {
  datagram_state& owner = datagram_state::of(*this);
  if (owner.receiver != this || cancelled_) return;
  cancelled_ = true;
  end_cancelled(*this, owner.stop_waiting(*this));
}

void datagram_receive_base::on_arrival() noexcept {
  (void)take_arrival();
  proceed(*this);
}

void datagram_receive_base::on_complete() noexcept {
  absorb_message();
  datagram_state::of(*this).receiver_ended();
  proceed(*this);
}

std::expected<std::size_t, std::error_code> datagram_receive_base::take_size() const {
  if (result >= 0) return static_cast<std::size_t>(result);
  return std::unexpected(error_of(result));
}

// ---- receiving a lease

datagram_lease_base::~datagram_lease_base() {
  if (buffer_ != io::buffer_pool::none) socket_->pool().release(buffer_);
}

bool datagram_lease_base::try_now() noexcept {
  if (socket_->receiver != nullptr) return false;
  if constexpr (checks_everything) socket_->expect_usable("receive");
  return take_arrival();
}

// Returns true when there is a datagram or an error.
bool datagram_lease_base::take_arrival() noexcept {
  if (socket_->has_arrivals()) {
    buffer_ = socket_->take_first();
    socket_->receive_many();  // it may have stopped because too many datagrams waited
    return true;
  }
  failure_ = socket_->take_failure();
  return failure_ != 0;
}

void datagram_lease_base::start() noexcept {
  socket_->wait_for_arrivals(*this, call_member<&datagram_lease_base::on_arrival>);
}

void datagram_lease_base::on_arrival() noexcept {
  (void)take_arrival();
  proceed(*this);
}

void datagram_lease_base::on_cancel() noexcept {
  if (!socket_->stop_waiting(*this)) return;  // it has its datagram: success beats cancel
  complete = call_member<&datagram_lease_base::on_cancelled>;
  event_loop::current().schedule(*this);
}

void datagram_lease_base::on_cancelled() noexcept {
  socket_->receiver_ended();
  proceed(*this);
}

std::error_code datagram_lease_base::take_failure() {
  if (buffer_ != io::buffer_pool::none) return {};
  return failure_ != 0 ? errno_code(failure_) : cancel_error();
}

}  // namespace gyre
