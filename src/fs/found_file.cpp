// src/fs/found_file.cpp: opens files below a directory by openat2(2), tried first in caches only.
#include <gyre/fs/found_file.hpp>
#include <gyre/io/io_error.hpp>
#include <gyre/io/kernel.hpp>
#include <gyre/tasks/to_thread.hpp>

#include <fcntl.h>
#include <linux/openat2.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstddef>
#include <string_view>
#include <utility>

namespace gyre::fs {
namespace {

// Non-blocking: opening a named pipe must not wait for a writer.
constexpr int to_read = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
constexpr int to_look = O_PATH | O_CLOEXEC;
constexpr std::uint64_t below = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS;

int open_resolving(int root, const std::string& path, std::uint64_t resolve, int how_to) noexcept {
  open_how how{};
  how.flags = static_cast<std::uint64_t>(how_to);
  how.resolve = resolve;
  return io::files().openat2(root, path.c_str(), &how, sizeof(how));
}

// For kernels or containers whose filter refuses openat2: opens step by step, and follows no links.
int open_step_by_step(int root, std::string_view path) noexcept {
  owned_fd at;
  while (!path.empty()) {
    const std::string name(path.substr(0, path.find('/')));
    path.remove_prefix(name.size() < path.size() ? name.size() + 1 : path.size());
    if (name == "..") {
      errno = ENOENT;
      return -1;
    }
    if (name.empty()) continue;
    const int from = at ? at.get() : root;
    const int next = io::files().openat(from, name.c_str(), (path.empty() ? to_read : to_look) | O_NOFOLLOW, 0);
    if (next < 0) return -1;
    at = owned_fd(next);
  }
  return at.release();
}

// The path of an open file, or an empty one where /proc does not tell it.
std::string path_of(int descriptor) {
  std::string path(PATH_MAX, '\0');
  const std::string link = "/proc/self/fd/" + std::to_string(descriptor);
  const ssize_t size = io::files().readlinkat(AT_FDCWD, link.c_str(), path.data(), path.size());
  path.resize(size < 0 || static_cast<std::size_t>(size) == path.size() ? 0 : static_cast<std::size_t>(size));
  return path;
}

// True for an absolute path, and for one with "..".
bool may_lead_out_by_itself(std::string_view path) noexcept {
  if (path.starts_with('/')) return true;
  for (; !path.empty(); path.remove_prefix(std::min(path.find('/'), path.size() - 1) + 1))
    if (path.substr(0, path.find('/')) == "..") return true;
  return false;
}

// For a path that RESOLVE_BENEATH refuses because of a link: an absolute link, or one that passes through a directory
// above the root, may lead to a file inside. Looks where it leads, without opening it, and opens that place anew, by a
// path without links.
int open_where_links_lead(int root, const std::string& path, int how_to) {
  const owned_fd place(may_lead_out_by_itself(path) ? -1 : open_resolving(root, path, RESOLVE_NO_MAGICLINKS, to_look));
  const std::string from = path_of(root);
  const std::string to = place ? path_of(place.get()) : std::string();
  const std::string inside = from.ends_with('/') ? from : from + '/';
  if (!from.starts_with('/') || !(to + '/').starts_with(inside)) {
    errno = EXDEV;
    return -1;
  }
  const std::string there = to.size() > inside.size() ? to.substr(inside.size()) : ".";
  return open_resolving(root, there, below | RESOLVE_NO_SYMLINKS, how_to);
}

found_file describe(int descriptor) noexcept {
  found_file found;
  if (descriptor < 0) {
    found.error = errno;
    return found;
  }
  found.descriptor = owned_fd(descriptor);
  if (const auto facts = facts_of(descriptor))
    found.facts = *facts;
  else
    found.error = facts.error().value();
  return found;
}

found_file open_slowly(int root, const std::string& path, std::uint64_t resolve, int how_to) {
  int descriptor = open_resolving(root, path, resolve, how_to);
  if (descriptor < 0 && errno == EXDEV) descriptor = open_where_links_lead(root, path, how_to);
  if (descriptor < 0 && (errno == ENOSYS || errno == EPERM) && resolve != 0)
    descriptor = open_step_by_step(root, path);
  else if (descriptor < 0 && (errno == ENOSYS || errno == EPERM))
    descriptor = io::files().openat(root, path.c_str(), how_to, 0);
  return describe(descriptor);
}

// The kernel would read a path only up to a zero byte.
bool is_cut_off(std::string_view path) noexcept { return path.find('\0') != std::string_view::npos; }

task<found_file> find(int root, std::string path, std::uint64_t resolve, int how_to) {
  if (is_cut_off(path)) co_return found_file{.error = ENOENT};
  const int known = open_resolving(root, path, resolve | RESOLVE_CACHED, how_to);
  const bool answered = known >= 0 || (errno != EAGAIN && errno != EINVAL && errno != ENOSYS && errno != EPERM &&
                                       (errno != EXDEV || may_lead_out_by_itself(path)));
  if (answered) co_return describe(known);
  auto open = [root, &path, resolve, how_to] { return open_slowly(root, path, resolve, how_to); };
  co_return co_await to_thread(io::blocking_pool::for_files(), open);
}

}  // namespace

owned_fd open_root(std::string_view path) {
  owned_fd root(io::files().openat(AT_FDCWD, std::string(path).c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC, 0));
  if (!root) throw io_error({errno, std::generic_category()}, "open", path);
  return root;
}

found_file look_below(int root, const std::string& path) {
  if (is_cut_off(path)) return {.error = ENOENT};
  int descriptor = open_resolving(root, path, below, to_look);
  if (descriptor < 0 && errno == EXDEV) descriptor = open_where_links_lead(root, path, to_look);
  return describe(descriptor);
}

GYRE_CORO_WRAPPER task<found_file> find_below(int root, std::string path) {
  return find(root, std::move(path), below, to_read);
}
GYRE_CORO_WRAPPER task<found_file> find_anywhere(std::string path) {
  return find(AT_FDCWD, std::move(path), 0, to_read);
}
GYRE_CORO_WRAPPER task<found_file> find_root(std::string path) {
  return find(AT_FDCWD, std::move(path), 0, to_look | O_DIRECTORY);
}

}  // namespace gyre::fs
