// src/io/message_multishot.cpp: the layout of a message in a buffer.
#include <gyre/io/kernel.hpp>
#include <gyre/io/message_multishot.hpp>

#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace gyre::io {

message_view view_message(const message& layout, std::span<std::byte> filled) noexcept {
  message_view view;
  message_header header;
  const std::size_t before = sizeof(header) + layout.name_length + layout.control_length;
  if (filled.size() < before) return view;
  std::memcpy(&header, filled.data(), sizeof(header));
  view.flags = header.flags;
  view.name = filled.subspan(sizeof(header), std::min(header.name_length, layout.name_length));
  view.control = filled.subspan(sizeof(header) + layout.name_length,
                                std::min<std::size_t>(header.control_length, layout.control_length));
  view.payload = filled.subspan(before);
  return view;
}

int receive_message_into(const message_multishot& m, std::span<std::byte> buffer) noexcept {
  const std::size_t before = sizeof(message_header) + m.layout.name_length + m.layout.control_length;
  if (buffer.size() < before) return -ENOBUFS;
  std::byte* const name = buffer.data() + sizeof(message_header);
  iovec payload{.iov_base = buffer.data() + before, .iov_len = buffer.size() - before};
  msghdr call{};
  call.msg_name = name;
  call.msg_namelen = m.layout.name_length;
  call.msg_control = name + m.layout.name_length;
  call.msg_controllen = m.layout.control_length;
  call.msg_iov = &payload;
  call.msg_iovlen = 1;
  const ssize_t size = sockets().recvmsg(m.target->fd, &call, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  if (size < 0) return -errno;
  const message_header header{.name_length = call.msg_namelen,
                              .control_length = static_cast<std::uint32_t>(call.msg_controllen),
                              .payload_length = static_cast<std::uint32_t>(size),
                              .flags = static_cast<std::uint32_t>(call.msg_flags)};
  std::memcpy(buffer.data(), &header, sizeof(header));
  return static_cast<int>(before + static_cast<std::size_t>(size));
}

}  // namespace gyre::io
