// programs/gyre/fetch/progress.hpp: the state of the downloads, and their bars on a terminal.
#pragma once

#include <gyre/coro/task.hpp>
#include <gyre/loop/deadline.hpp>

#include <cstddef>
#include <cstdint>
#include <list>
#include <optional>
#include <string>

namespace programs {

struct download_progress {
  std::string name;
  std::uint64_t before = 0;  // bytes of an earlier call
  std::uint64_t done = 0;
  std::optional<std::uint64_t> total = {};
  gyre::time_point began = {};
};

/// "[#######-----]  58 %  12.3 MiB of 21.0 MiB  4.2 MiB/s  2 s", for a terminal with `columns`.
[[nodiscard]] std::string bar(const download_progress& of, gyre::time_point now, std::size_t columns);

/// The downloads that are running.
class progress {
 public:
  /// Draws the bars ten times a second, if standard error is a terminal. Runs until it is cancelled.
  gyre::task<> show();

  /// Removes a download at the end of its block.
  class entry {
   public:
    entry(progress& in, std::string name);
    entry& operator=(entry&&) = delete;
    ~entry() { all_.running_.erase(here_); }
    [[nodiscard]] download_progress& state() const noexcept { return *here_; }

   private:
    progress& all_;
    std::list<download_progress>::iterator here_;
  };

  /// Prints a line above the bars.
  void say(const std::string& line);

 private:
  void draw();
  void erase();

  std::list<download_progress> running_;
  std::size_t drawn_ = 0;  // lines on the terminal
};

}  // namespace programs
