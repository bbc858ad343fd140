// src/net/datagram_sends.cpp: sending datagrams.
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
static_assert(datagram_control_room >= CMSG_SPACE(sizeof(int)));

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
  return event_loop::current().backend().attempt(*this);
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
  if (!event_loop::current().backend().attempt(*this)) return socket.retry_soon();
  target->writable = true;
  unlink();
  submit_first(socket);
  finish_soon();  // a timer calls this, and no coroutine may be resumed by one
}

// Returns false when others have taken the room and this send waits again.
bool datagram_send_base::room_came() noexcept {
  code = io::opcode::send_message;
  if (result < 0 || event_loop::current().backend().attempt(*this)) return true;
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

}  // namespace gyre
