// gyre/io/message_multishot.hpp: datagrams with their senders, received into buffers of the pool.
// For authors of operations.
#pragma once

#include <gyre/attributes.hpp>
#include <gyre/io/request.hpp>

#include <cstddef>
#include <cstdint>
#include <span>

namespace gyre::io {

/// opcode::receive_messages_many. `layout` defines the space that a buffer reserves for the sender's name (name_length)
/// and for control data (control_length); its pointers are not used. view_message reads a delivered buffer.
struct message_multishot : multishot {
  message layout;
};

/// The start of a message in a buffer: same as struct io_uring_recvmsg_out. The space for the name, the space for
/// control data and the bytes follow.
struct message_header {
  std::uint32_t name_length = 0;     ///< of the whole name, even when it did not fit
  std::uint32_t control_length = 0;  ///< the used length
  std::uint32_t payload_length = 0;
  std::uint32_t flags = 0;  ///< MSG_TRUNC, MSG_CTRUNC
};

/// A message in a buffer.
struct message_view {
  std::span<const std::byte> name;
  std::span<std::byte> control;
  std::span<std::byte> payload;
  std::uint32_t flags = 0;
};

/// `filled` is the delivered part of the buffer.
[[nodiscard]] GYRE_API message_view view_message(const message& layout, std::span<std::byte> filled) noexcept;

/// Performs in one call what the ring does for this request. Returns the filled size, or -errno. For backends.
[[nodiscard]] int receive_message_into(const message_multishot& m, std::span<std::byte> buffer) noexcept;

}  // namespace gyre::io
