// gyre/fs/file_state.hpp: the state of an open file; the movable file points to it. For authors of operations.
#pragma once

#include <gyre/attributes.hpp>
#include <gyre/io/descriptor.hpp>
#include <gyre/io/io_error.hpp>
#include <gyre/loop/operation.hpp>

#include <cstdint>
#include <string>
#include <string_view>

namespace gyre::fs {

/// One open file: its descriptor, its name, and the users of its position.
struct GYRE_API file_state : private io::descriptor {
  /// Takes over an open descriptor, and closes it on failure.
  /// Errors: io_error "open path: …", std::bad_alloc.
  static file_state& adopt(int number, std::string_view path);

  /// The state of every file that is closed or was moved from. It looks like a pipe that other tasks read and write. So
  /// each transfer leaves its fast path, as it does in these cases, and then stops the program with a message. Nothing
  /// ever writes to it.
  static file_state closed;
  /// Stops the program when this is `closed`. For functions that are not transfers.
  void expect_open(const char* function) const noexcept {
    if (this == &closed) [[unlikely]]
      misuse_of_closed(function, "a file");
  }
  /// Stops the program when this file belongs to another loop than the running one. A file that was opened without a
  /// loop, or whose loop has ended, belongs to the next one that uses it.
  void expect_own_loop(const char* operation) noexcept {
    if (loop != event_loop::current().number()) [[unlikely]]
      change_loop(operation);
  }

  /// Closes the descriptor and frees this. Nothing may be in flight.
  void release() noexcept;
  /// Frees this after its descriptor has been closed.
  void forget() noexcept { delete this; }

  [[nodiscard]] io::descriptor& descriptor() noexcept { return *this; }
  using io::descriptor::fd;
  using io::descriptor::in_flight;

  bool waits = false;    // a pipe, a terminal or a socket: has readiness, and is non-blocking
  bool seekable = true;  // has a position and offsets
  // A read of cached data need not wait: the file supports RWF_NOWAIT.
  bool reads_now = true;
  bool writes_now = true;            // the same for a write to the cache
  operation_base* reader = nullptr;  // reads at the position
  operation_base* writer = nullptr;  // writes at the position
  std::uint32_t loop = 0;            // number of the loop it belongs to; 0 means none
  std::string path;

 private:
  explicit file_state(std::string_view name) : path(name) {}
  explicit file_state(operation_base& nobody) noexcept : waits(true), reader(&nobody), writer(&nobody) {}
  ~file_state() = default;
  [[nodiscard]] int classify() noexcept;
  void change_loop(const char* operation) noexcept;
};

}  // namespace gyre::fs
