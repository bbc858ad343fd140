// src/fs/found_file.cpp: opens files below a directory by openat2(2), tried first in caches only.
#include <gyre/fs/found_file.hpp>
#include <gyre/io/io_error.hpp>
#include <gyre/tasks/to_thread.hpp>

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <string_view>
#include <utility>

namespace gyre::fs {
namespace {

// Non-blocking: opening a named pipe must not wait for a writer.
constexpr int flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
constexpr std::uint64_t below = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS;

int open_resolving(int root, const std::string& path, std::uint64_t resolve, int how_to = flags) noexcept {
  open_how how{};
  how.flags = static_cast<std::uint64_t>(how_to);
  how.resolve = resolve;
  return static_cast<int>(::syscall(SYS_openat2, root, path.c_str(), &how, sizeof(how)));
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
    const int next = ::openat(from, name.c_str(), (path.empty() ? flags : O_PATH | O_CLOEXEC) | O_NOFOLLOW);
    if (next < 0) return -1;
    at = owned_fd(next);
  }
  return at.release();
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

found_file open_slowly(int root, const std::string& path, std::uint64_t resolve) noexcept {
  int descriptor = open_resolving(root, path, resolve);
  if (descriptor < 0 && (errno == ENOSYS || errno == EPERM) && resolve != 0)
    descriptor = open_step_by_step(root, path);
  else if (descriptor < 0 && (errno == ENOSYS || errno == EPERM))
    descriptor = ::openat(root, path.c_str(), flags);
  return describe(descriptor);
}

task<found_file> find(int root, std::string path, std::uint64_t resolve) {
  const int known = open_resolving(root, path, resolve | RESOLVE_CACHED);
  if (known >= 0 || (errno != EAGAIN && errno != EINVAL && errno != ENOSYS && errno != EPERM))
    co_return describe(known);
  auto open = [root, &path, resolve] { return open_slowly(root, path, resolve); };
  co_return co_await to_thread(io::blocking_pool::for_files(), open);
}

}  // namespace

owned_fd open_root(std::string_view path) {
  owned_fd root(::open(std::string(path).c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!root) throw io_error({errno, std::generic_category()}, "open", path);
  return root;
}

found_file look_below(int root, const std::string& path) noexcept {
  return describe(open_resolving(root, path, below, O_PATH | O_CLOEXEC));
}

GYRE_CORO_WRAPPER task<found_file> find_below(int root, std::string path) { return find(root, std::move(path), below); }
GYRE_CORO_WRAPPER task<found_file> find_anywhere(std::string path) { return find(AT_FDCWD, std::move(path), 0); }

}  // namespace gyre::fs
