// gyre/io/message_multishot.hpp: datagrams that arrive, each with its sender, in buffers of the pool.
#pragma once

#include <gyre/attributes.hpp>
#include <gyre/io/request.hpp>

#include <cstddef>
#include <cstdint>
#include <span>

namespace gyre::io {

/// opcode::receive_messages_many. `layout` says how much room a buffer gives to the sender's name (name_length) and to
/// control data (control_length); its pointers are not used. A delivered buffer is read with view_message.
struct message_multishot : multishot {
  message layout;
};

/// How a message begins in a buffer: same as struct io_uring_recvmsg_out. Room for the name, room for control data and the
/// bytes follow.
struct message_header {
  std::uint32_t name_length = 0;     ///< of the whole name, also when it did not fit
  std::uint32_t control_length = 0;  ///< used
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

/// `filled`: the part of the buffer that was delivered.
[[nodiscard]] GYRE_API message_view view_message(const message& layout, std::span<std::byte> filled) noexcept;

/// Does with one call what the ring does by itself: gives the filled size, or -errno. For backends.
[[nodiscard]] int receive_message_into(const message_multishot& m, std::span<std::byte> buffer) noexcept;

}  // namespace gyre::io
