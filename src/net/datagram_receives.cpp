// src/net/datagram_receives.cpp: receiving datagrams.
#include <gyre/coro/cancelled.hpp>
#include <gyre/coro/misuse.hpp>
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
  if (!event_loop::current().backend().attempt(*this)) return false;
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
