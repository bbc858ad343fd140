// src/http/log_output.hpp: writes to a descriptor of any kind, as much as it takes now.
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

  /// How many bytes were taken, or -errno; -EAGAIN: none at present. Never waits, and SIGPIPE is not raised.
  [[nodiscard]] std::ptrdiff_t write(std::string_view bytes) noexcept;

 private:
  enum class kind : std::uint8_t {
    file,         // never waits for another process
    socket,       // can be asked not to wait
    own,          // an opening of its own, which does not wait
    shared_pipe,  // waits when it is full: has to be asked first
  };
  [[nodiscard]] std::ptrdiff_t write_some(std::string_view bytes) noexcept;

  owned_fd fd_;
  kind kind_ = kind::file;
};

}  // namespace gyre::http
