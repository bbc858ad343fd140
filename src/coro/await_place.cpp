// src/coro/await_place.cpp: distinguishes the library's own awaits from the program's by file name.
#include <gyre/coro/await_place.hpp>

#include <array>
#include <cstddef>
#include <string_view>

namespace gyre {
namespace {

// Removes the last component of a path, and returns it.
std::string_view take_last(std::string_view& path) noexcept {
  const std::size_t slash = path.rfind('/');
  const std::string_view last = slash == std::string_view::npos ? path : path.substr(slash + 1);
  path = slash == std::string_view::npos ? std::string_view() : path.substr(0, slash);
  return last;
}

bool is_layer(std::string_view folder) noexcept {
  constexpr std::array<std::string_view, 15> layers = {"client", "coro", "fs",    "http",    "interop",
                                                       "io",     "loop", "net",   "process", "runtime",
                                                       "stream", "sync", "tasks", "tls",     "testing"};
  for (const std::string_view each : layers)
    if (folder == each) return true;
  return false;
}

}  // namespace

// Matches "…/gyre/tasks/x.hpp", wherever the headers are installed, and all below this file's source folder.
bool is_in_library(const std::source_location& place) noexcept {
  std::string_view file = place.file_name();
  std::string_view sources = std::source_location::current().file_name();
  for (int i = 0; i < 2; ++i) (void)take_last(sources);
  if (!file.ends_with(".hpp")) {
    if (!file.starts_with(sources)) return false;
    file.remove_prefix(sources.size());
    if (file.starts_with('/')) file.remove_prefix(1);
    return is_layer(file.substr(0, file.find('/')));
  }
  (void)take_last(file);
  return is_layer(take_last(file)) && take_last(file) == "gyre";
}

std::source_location place_of_wait(const frame_base* innermost) noexcept {
  for (const frame_base* frame = innermost; frame != nullptr; frame = frame->caller)
    if (!is_in_library(frame->where)) return frame->where;
  return innermost != nullptr ? innermost->where : std::source_location();
}

}  // namespace gyre
