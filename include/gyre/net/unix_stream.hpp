// gyre/net/unix_stream.hpp: a connected Unix socket, which also passes descriptors. unix(7).
#pragma once

#include <gyre/coro/task.hpp>
#include <gyre/io/owned_fd.hpp>
#include <gyre/net/descriptor_passing.hpp>
#include <gyre/net/socket_stream.hpp>
#include <gyre/net/unix_address.hpp>

#include <cstddef>
#include <cstdint>
#include <span>

namespace gyre {

/// The process at the other end, as the kernel knew it when the connection was made.
struct peer_credentials {
  std::int32_t process = 0;
  std::uint32_t user = 0;
  std::uint32_t group = 0;
};

struct unix_stream_pair;

/// A connected Unix stream socket. Its base, socket_stream in gyre/net/socket_stream.hpp, has the functions that read,
/// write, close and cancel.
///
/// Thread: belongs to the loop it was made on.
class GYRE_API unix_stream : public socket_stream {
 public:
  unix_stream() noexcept = default;
  /// Takes over a connected descriptor and makes it non-blocking. Closes it on failure.
  /// Errors: io_error "from_fd 7: Transport endpoint is not connected"; "Protocol wrong type for socket" for a socket
  /// that is not a stream.
  static unix_stream from_fd(int fd) { return unix_stream(socket_state::adopt(fd)); }
  explicit unix_stream(socket_state& socket) noexcept : socket_stream(socket) {}

  /// Connects to the socket that listens at a path or an abstract name. Waits while its backlog is full.
  ///
  /// Cancel: the attempt is abandoned and the socket closed. Errors: io_error "connect /run/x.sock: No such file or
  /// directory".
  [[nodiscard]] static task<unix_stream> connect(unix_address peer);

  /// Makes two connected ends. Errors: io_error. See socketpair(2).
  [[nodiscard]] static unix_stream_pair pair();

  /// Writes all bytes, at least one, and sends duplicates of the descriptors along with the first. Waits its turn among
  /// the other writes. Returns the number of bytes.
  ///
  /// Lifetime: `bytes`, `descriptors` and the open descriptors themselves stay valid until the await returns.
  /// Cancel: same as write_all. Errors: same as write_all; std::errc::invalid_argument for no byte, no descriptor or
  /// more than max_passed_descriptors. See SCM_RIGHTS in unix(7).
  [[nodiscard("co_await it")]] send_descriptors_op send_descriptors(std::span<const std::byte> bytes GYRE_LIFETIMEBOUND,
                                                                    std::span<const int> descriptors
                                                                        GYRE_LIFETIMEBOUND) noexcept {
    return {*socket_, bytes, descriptors};
  }

  /// Reads like read_some, and takes the descriptors that came along. Other reads close them. Must not follow
  /// receive() or next_or_stop(), which read ahead and lose descriptors.
  ///
  /// Lifetime: `buffer` stays valid until the await returns. Cancel: nothing was taken.
  /// Errors: io_error; std::errc::too_many_files_open when this process has no number left for one of them: all are
  /// closed, and the next read gets the bytes; std::errc::device_or_resource_busy after receive().
  [[nodiscard("co_await it")]] receive_descriptors_op receive_descriptors(
      std::span<std::byte> buffer GYRE_LIFETIMEBOUND) noexcept {
    return {*socket_, buffer};
  }

  /// Errors: io_error. See getsockname(2), getpeername(2).
  [[nodiscard]] unix_address local_address() const;
  [[nodiscard]] unix_address peer_address() const;
  /// Errors: io_error. See SO_PEERCRED in unix(7).
  [[nodiscard]] peer_credentials credentials() const;
};

struct unix_stream_pair {
  unix_stream first;
  unix_stream second;
};

static_assert(byte_stream<unix_stream>);

}  // namespace gyre
