// src/http/log_output.hpp: non-blocking writes to a descriptor of any kind.
#pragma once

#include <gyre/io/owned_fd.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace gyre::http {

class log_output {
 public:
  /// Errors: io_error.
  explicit log_output(int descriptor);

  /// Returns the number of bytes written, or -errno; -EAGAIN when nothing can be written now. Never
  /// waits, and never raises SIGPIPE.
  [[nodiscard]] std::ptrdiff_t write(std::string_view bytes) noexcept;

 private:
  enum class kind : std::uint8_t {
    file,         // never waits for another process
    socket,       // sent to with MSG_DONTWAIT
    own,          // opened again here, as non-blocking
    shared_pipe,  // blocks when it is full, so it is polled first
  };
  [[nodiscard]] std::ptrdiff_t write_some(std::string_view bytes) noexcept;

  owned_fd fd_;
  kind kind_ = kind::file;
};

}  // namespace gyre::http
