// gyre/io/backend_choice.hpp: the backend that a process uses, and the reason.
#pragma once

#include <gyre/attributes.hpp>
#include <gyre/io/backend.hpp>
#include <gyre/io/bulk_size.hpp>

#include <cstdint>
#include <string_view>

namespace gyre::io {

/// A kind of backend, denoted by the name under which it is registered.
struct backend_kind {
  static const backend_kind automatic;  ///< "auto"
  static const backend_kind io_uring;   ///< "io_uring"
  static const backend_kind epoll;      ///< "epoll"

  std::string_view name;
  friend constexpr bool operator==(backend_kind, backend_kind) noexcept = default;
};
inline constexpr backend_kind backend_kind::automatic{"auto"};
inline constexpr backend_kind backend_kind::io_uring{"io_uring"};
inline constexpr backend_kind backend_kind::epoll{"epoll"};

/// The options of a loop for its backend.
struct backend_options {
  /// `automatic` obeys GYRE_BACKEND=auto|io_uring|epoll, or the name of a backend that the program has registered.
  /// Otherwise it uses io_uring where that passes a self-test, and falls back to epoll. Requesting io_uring by name is
  /// an error where it is not available.
  backend_kind kind = backend_kind::automatic;
  std::uint32_t submission_entries = 256;   ///< 1 to 32768
  std::uint32_t completion_entries = 4096;  ///< 1 to 65536
  std::uint32_t buffer_count = 1024;        ///< a power of two, at most 32768
  std::uint32_t buffer_size = 4096;         ///< bytes, at least 256
  /// Streams that fill their buffers receive into large ones. While none is free, they use the others.
  std::uint32_t large_buffer_count = 32;        ///< at most 32768; 0: none
  std::uint32_t large_buffer_size = bulk_size;  ///< bytes, at least 256
};

/// The decision and its reason, for the log and for `gyre doctor`.
struct backend_choice {
  backend_kind kind = backend_kind::epoll;
  int error = 0;          ///< errno that prevents the use of io_uring; 0 when it is used or not requested
  char reason[200] = {};  ///< one line: "io_uring: passed the self-test", "epoll: io_uring_setup: EPERM (…)"
};

/// Owns a backend. (std::unique_ptr would cost every public header 35,000 lines.)
class backend_owner {
 public:
  backend_owner() noexcept = default;
  explicit backend_owner(backend* b) noexcept : backend_(b) {}
  backend_owner(backend_owner&& other) noexcept : backend_(std::exchange(other.backend_, nullptr)) {}
  backend_owner& operator=(backend_owner&& other) noexcept {
    std::swap(backend_, other.backend_);
    return *this;
  }
  ~backend_owner() { delete backend_; }

  /// Gives up ownership of the backend.
  backend* release() noexcept { return std::exchange(backend_, nullptr); }

  backend* operator->() const noexcept { return backend_; }
  backend& operator*() const noexcept { return *backend_; }
  explicit operator bool() const noexcept { return backend_ != nullptr; }

 private:
  backend* backend_ = nullptr;
};

/// The result of `automatic` for this process. Determined once, by testing, on the first call. Thread: any.
GYRE_API const backend_choice& process_backend_choice() noexcept;

/// Makes a backend on the calling thread, which becomes its owner.
///
/// `choice` receives the decision and its reason. Errors: returns an empty owner when a backend that was requested by
/// name is not available, or the process is out of descriptors (see `choice.error`, `choice.reason`); EINVAL when a
/// size in `options` is out of range.
GYRE_API backend_owner make_backend(const backend_options& options, backend_choice& choice);

/// Replaces the backend of a parent's loop in a forked child. Any request stops the program with a message; destruction
/// is allowed. The child shares the kernel's side of the real backend, so using that one would change the parent's I/O.
/// There is one instance for all loops, which lives until the process ends. Errors: std::bad_alloc, on the first call.
GYRE_API backend& forked_backend();

}  // namespace gyre::io
