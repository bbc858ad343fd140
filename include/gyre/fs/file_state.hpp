// gyre/fs/file_state.hpp: the state of an open file, behind the movable file. For authors of file operations.
#pragma once

#include <gyre/attributes.hpp>
#include <gyre/io/descriptor.hpp>
#include <gyre/io/io_error.hpp>
#include <gyre/loop/operation.hpp>

#include <string>
#include <string_view>

namespace gyre::fs {

/// One open file: its descriptor, its name, and who uses its position.
struct GYRE_API file_state : private io::descriptor {
  /// Takes over an open descriptor, which is closed when this fails.
  /// Errors: io_error "open path: …", std::bad_alloc.
  static file_state& adopt(int number, std::string_view path);

  /// Closes the descriptor and frees this. Nothing may be in flight.
  void release() noexcept;
  /// Frees this after its descriptor has been closed.
  void forget() noexcept { delete this; }

  [[nodiscard]] io::descriptor& descriptor() noexcept { return *this; }
  using io::descriptor::fd;
  using io::descriptor::in_flight;

  bool waits = false;                // a pipe, a terminal, a socket: ready or not, and non-blocking
  bool seekable = true;              // has a position and offsets
  bool reads_now = true;             // a read of what is in memory need not wait: RWF_NOWAIT is known to this file
  bool writes_now = true;            // the same for a write to memory
  operation_base* reader = nullptr;  // reads at the position
  operation_base* writer = nullptr;  // writes at the position
  std::string path;

 private:
  explicit file_state(std::string_view name) : path(name) {}
  ~file_state() = default;
  [[nodiscard]] int classify() noexcept;
};

}  // namespace gyre::fs
