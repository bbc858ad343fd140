// gyre/io/line_output.hpp: lines written to a descriptor of any kind without waiting, such as those of a log.
#pragma once

#include <gyre/attributes.hpp>
#include <gyre/io/owned_fd.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace gyre {

/// Thread: any, one at a time.
class GYRE_API line_output {
 public:
  /// Duplicates the descriptor, or opens its pipe or terminal again. Errors: io_error "open …" with `name`.
  line_output(int descriptor, std::string_view name);

  /// Returns the number of bytes written, or -errno; -EAGAIN when nothing can be written now. Never waits for a reader,
  /// and never raises SIGPIPE. Lines of up to PIPE_BUF bytes stay whole in a pipe that others write to.
  [[nodiscard]] std::ptrdiff_t write(std::string_view bytes) noexcept;

  /// The same for one call. Keeps nothing open, and works without a free descriptor. Thread: any.
  [[nodiscard]] static std::ptrdiff_t write_once(int descriptor, std::string_view bytes) noexcept;

 private:
  enum class kind : std::uint8_t {
    file,         // never waits for another process
    socket,       // sent to with MSG_DONTWAIT
    own,          // opened again here, as non-blocking
    shared_pipe,  // blocks when it is full, so it is polled first
  };
  line_output() noexcept = default;
  /// Opens the pipe or terminal again, if it is one. Returns an errno.
  int open(int descriptor) noexcept;
  [[nodiscard]] static std::ptrdiff_t write_some(int descriptor, kind kind, std::string_view bytes) noexcept;
  [[nodiscard]] static std::ptrdiff_t write(int descriptor, kind kind, std::string_view bytes) noexcept;

  owned_fd fd_;
  kind kind_ = kind::file;
};

}  // namespace gyre
