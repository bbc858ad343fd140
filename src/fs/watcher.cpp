// src/fs/watcher.cpp: parses inotify events.
#include <gyre/fs/watcher.hpp>
#include <gyre/io/kernel.hpp>

#include <sys/inotify.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

namespace gyre::fs {
namespace {

constexpr std::uint32_t of_interest = IN_CREATE | IN_MOVED_TO | IN_CLOSE_WRITE | IN_DELETE | IN_MOVED_FROM | IN_ONLYDIR;

class watch_op : public path_operation<watch_op> {
 public:
  watch_op(file_state& events, std::string_view directory) : path_operation(io::opcode::watch, directory) {
    target = &events.descriptor();
    flags = of_interest;
  }
  std::expected<int, std::error_code> take_result() {
    if (result < 0) return std::unexpected(error());
    return result;
  }
  [[noreturn]] void fail(std::error_code reason) const { throw io_error(reason, "watch", path_); }
};

int make_inotify() {
  const int fd = io::files().inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
  if (fd < 0) throw io_error({errno, std::generic_category()}, "watcher", {});
  return fd;
}

// Only one task at a time: an event of a directory that is just being added could not be attributed.
class use {
 public:
  explicit use(bool& in_use) noexcept : in_use_(&in_use) {
    if (std::exchange(in_use, true))
      misuse("two tasks use one watcher at the same time: let one task read, and hand on the changes");
  }
  use& operator=(use&&) = delete;
  ~use() { *in_use_ = false; }

 private:
  bool* in_use_;
};

// Returns false for an event of no interest.
bool change_of(std::uint32_t mask, change_kind& kind) noexcept {
  if ((mask & IN_Q_OVERFLOW) != 0)
    kind = change_kind::lost;
  else if ((mask & IN_IGNORED) != 0)
    kind = change_kind::ended;
  else if ((mask & (IN_CREATE | IN_MOVED_TO)) != 0)
    kind = change_kind::created;
  else if ((mask & IN_CLOSE_WRITE) != 0)
    kind = change_kind::written;
  else if ((mask & (IN_DELETE | IN_MOVED_FROM)) != 0)
    kind = change_kind::removed;
  else
    return false;
  return true;
}

}  // namespace

watcher::watcher() : events_(file::from_fd(make_inotify(), "watcher")) {}

task<void> watcher::watch(std::string directory) {
  events_.state().expect_open("watch");
  events_.state().expect_own_loop("watch");
  const use alone(in_use_);
  const int number = co_await watch_op(events_.state(), directory);
  // The same directory, even by another path, has the same number.
  const auto same = std::find_if(all_.begin(), all_.end(), [&](const watched& each) { return each.number == number; });
  if (same == all_.end())
    all_.push_back({number, std::move(directory)});
  else
    same->directory = std::move(directory);
}

task<std::vector<change>> watcher::read_some() {
  events_.state().expect_open("read_some");
  events_.state().expect_own_loop("read_some");
  const use alone(in_use_);
  std::array<std::byte, 8192> buffer;  // room for several of the longest events
  for (;;) {
    const std::size_t size = co_await events_.read_some(buffer);
    std::vector<change> changes = take_apart(std::span<const std::byte>(buffer).first(size));
    if (!changes.empty()) co_return changes;
  }
}

std::vector<change> watcher::take_apart(std::span<const std::byte> records) {
  std::vector<change> changes;
  inotify_event event{};
  while (records.size() >= sizeof(event)) {
    std::memcpy(&event, records.data(), sizeof(event));
    const std::size_t size = std::min(sizeof(event) + event.len, records.size());
    const char* const text = reinterpret_cast<const char*>(records.data() + sizeof(event));
    const std::string_view name(text, ::strnlen(text, size - sizeof(event)));
    records = records.subspan(size);

    change found;
    if (!change_of(event.mask, found.kind)) continue;
    const int number = event.wd;
    const auto in = std::find_if(all_.begin(), all_.end(), [&](const watched& w) { return w.number == number; });
    if (in == all_.end() && found.kind != change_kind::lost) continue;  // a watch that was never reported to the caller
    found.is_directory = (event.mask & IN_ISDIR) != 0;
    found.name = name;
    if (in != all_.end()) {
      found.directory = in->directory;
      if (found.kind == change_kind::ended) all_.erase(in);
    }
    changes.push_back(std::move(found));
  }
  return changes;
}

}  // namespace gyre::fs
