// programs/gyre/serve/new_file.cpp: creates the file, and finds a free name for it.
#include "programs/gyre/serve/new_file.hpp"

#include <gyre/http/status_error.hpp>
#include <gyre/io/io_error.hpp>

#include <fmt/format.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <system_error>

namespace programs {
namespace {

constexpr int max_per_name = 10'000;

[[noreturn]] void fail(const char* operation, const std::string& name) {
  throw gyre::io_error({errno, std::generic_category()}, operation, name);
}

// "photo.jpg", "photo (2).jpg". Cut to a valid length: the extension stays, and no character is split.
std::string numbered(const std::string& wanted, int number) {
  if (number == 1) return wanted;
  constexpr std::size_t max_size = 255;  // NAME_MAX
  constexpr std::size_t max_extension_size = 32;
  std::size_t dot = wanted.rfind('.');
  if (dot == std::string::npos || wanted.size() - dot > max_extension_size) dot = wanted.size();
  const std::string end = fmt::format(" ({}){}", number, wanted.substr(dot));
  std::string stem = wanted.substr(0, dot);
  const auto continues = [](char c) { return (static_cast<unsigned char>(c) & 0xc0U) == 0x80U; };
  while (!stem.empty() && stem.size() + end.size() > max_size) {
    while (stem.size() > 1 && continues(stem.back())) stem.pop_back();
    stem.pop_back();
  }
  return stem + end;
}

}  // namespace

new_file::new_file(const std::string& directory) : directory_(directory) {
  const int fd = ::open(directory.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0644);
  if (fd < 0) fail("create a file in", directory);
  file_ = gyre::fs::file::from_fd(fd, directory);
}

bool new_file::link_as(const std::string& name) {
  const std::string source = fmt::format("/proc/self/fd/{}", file_.native_descriptor());
  const std::string target = directory_ + "/" + name;
  if (::linkat(AT_FDCWD, source.c_str(), AT_FDCWD, target.c_str(), AT_SYMLINK_FOLLOW) == 0) return true;
  if (errno != EEXIST) fail("write", target);
  return false;
}

std::string new_file::keep_as(const std::string& wanted) {
  for (int number = 1; number <= max_per_name; number = next_free(wanted, number))
    if (std::string name = numbered(wanted, number); link_as(name)) return name;
  throw gyre::http::status_error(409, "there are too many files of that name");
}

bool new_file::is_there(const std::string& wanted, int number) const {
  struct stat found{};
  return ::lstat((directory_ + "/" + numbered(wanted, number)).c_str(), &found) == 0;
}

// Returns a number above `taken` whose name is free and whose predecessor's is not. The steps double, then halve: the
// ten thousandth file with the same name costs a few look-ups, not ten thousand.
int new_file::next_free(const std::string& wanted, int taken) const {
  int free = taken + 1;
  for (int step = 1; free <= max_per_name && is_there(wanted, free); free = taken + step) {
    taken = free;
    step *= 2;
  }
  free = std::min(free, max_per_name + 1);
  while (free - taken > 1) {
    const int middle = taken + (free - taken) / 2;
    (is_there(wanted, middle) ? taken : free) = middle;
  }
  return free;
}

}  // namespace programs
