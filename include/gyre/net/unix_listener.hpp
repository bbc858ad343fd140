// gyre/net/unix_listener.hpp: accepts connections at a path or an abstract name and serves them.
#pragma once

#include <gyre/net/stream_listener.hpp>
#include <gyre/net/unix_address.hpp>
#include <gyre/net/unix_stream.hpp>

#include <cstdint>
#include <utility>

namespace gyre {

struct unix_listen_options {
  int backlog = 4096;  ///< connections the kernel completes before they are accepted; see listen(2)
  /// Replaces an existing socket file when nobody listens on it any more: a server that was killed leaves it behind. A
  /// file of another kind is not touched.
  bool replace_stale = true;
  /// Permissions of the socket file, before the umask. Clients that may write to it may connect.
  std::uint32_t permissions = 0777;
};

/// A listening Unix socket: see stream_listener for accepting and serving. The destructor removes its file.
class GYRE_API unix_listener : public stream_listener<unix_stream> {
 public:
  /// Binds and listens. Errors: io_error "listen /run/x.sock: Address already in use"; std::invalid_argument for a
  /// negative backlog.
  static unix_listener bind(const unix_address& local, const unix_listen_options& options = {});

  unix_listener(unix_listener&& other) noexcept
      : stream_listener(std::move(other)),       // only the base is moved
        local_(other.local_),                    // NOLINT(bugprone-use-after-move)
        file_(std::exchange(other.file_, 0)) {}  // NOLINT(bugprone-use-after-move)
  unix_listener& operator=(unix_listener&& other) noexcept;
  ~unix_listener();

  [[nodiscard]] const unix_address& local_address() const noexcept { return local_; }

 private:
  unix_listener(listener_state& socket, const unix_address& local, std::uint64_t file) noexcept
      : stream_listener(socket), local_(local), file_(file) {}
  void remove_file() noexcept;

  unix_address local_;
  std::uint64_t file_;  // its inode; 0: nothing to remove
};

}  // namespace gyre
