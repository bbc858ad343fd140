// gyre/process/process_options.hpp: how to start a child process.
#pragma once

#include <gyre/attributes.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace gyre {

/// Where one of the three standard streams of a child goes.
class redirect {
 public:
  enum class kind : std::uint8_t { inherit, null, pipe, output, descriptor };

  /// To where ours goes.
  [[nodiscard]] static redirect inherit() noexcept { return redirect(kind::inherit, -1); }
  /// /dev/null: nothing to read; what is written is lost.
  [[nodiscard]] static redirect null() noexcept { return redirect(kind::null, -1); }
  /// To us, through a pipe: see process::input, output and error.
  [[nodiscard]] static redirect pipe() noexcept { return redirect(kind::pipe, -1); }
  /// Of the error stream: to where the output goes.
  [[nodiscard]] static redirect to_output() noexcept { return redirect(kind::output, -1); }
  /// To a duplicate of an open descriptor, which is still the caller's: a file, a socket, an end of gyre::open_pipe.
  [[nodiscard]] static redirect descriptor(int fd) noexcept { return redirect(kind::descriptor, fd); }

  [[nodiscard]] kind what() const noexcept { return kind_; }
  [[nodiscard]] int fd() const noexcept { return fd_; }

 private:
  redirect(kind what, int fd) noexcept : kind_(what), fd_(fd) {}
  kind kind_;
  int fd_;
};

struct process_options {
  redirect standard_input = redirect::inherit();
  redirect standard_output = redirect::inherit();
  redirect standard_error = redirect::inherit();
  /// The directory it starts in; empty: ours.
  std::string directory = {};
  /// Each "NAME=value", all that there are; nothing: those of this process. See environment_with.
  std::optional<std::vector<std::string>> environment = {};
  /// In a session of its own, away from our terminal and its signals. See setsid(2).
  bool new_session = false;
};

/// The environment of this process with these added, each "NAME=value", or replaced.
[[nodiscard]] GYRE_API std::vector<std::string> environment_with(const std::vector<std::string>& additions);

}  // namespace gyre
