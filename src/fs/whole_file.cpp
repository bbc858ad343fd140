// src/fs/whole_file.cpp: reads or writes a file as a whole.
#include <gyre/fs/file.hpp>
#include <gyre/fs/path_operations.hpp>
#include <gyre/fs/whole_file.hpp>
#include <gyre/loop/as_expected.hpp>
#include <gyre/tasks/shield.hpp>

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <exception>

namespace gyre::fs {
namespace {

// In the same directory, because a rename cannot cross file systems.
std::string temporary_name_for(const std::string& path) {
  static std::atomic<unsigned> counter{0};
  return path + "." + std::to_string(::getpid()) + "." + std::to_string(counter.fetch_add(1)) + ".tmp";
}

task<void> write_and_close(std::string path, std::span<const std::byte> bytes, open_options how, bool durable) {
  file target = co_await file::open(path, how);
  co_await target.write_all(bytes);
  if (durable) co_await target.sync();
  co_await target.close();
}

// The file may not exist: a cancel may have come before it was created.
task<void> remove_quietly(std::string path) { (void)co_await as_expected(remove(path)); }

// A name is durable only once its directory is synced.
task<void> sync_directory_of(std::string path) {
  const std::size_t slash = path.rfind('/');
  const std::string parent = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  file directory = co_await file::open(parent, {.read = true, .directory = true});
  co_await directory.sync();
}

task<void> replace(std::string path, std::span<const std::byte> bytes, write_options options) {
  const std::string temporary = temporary_name_for(path);
  std::exception_ptr failure;
  try {
    const open_options how{.write = true, .create = true, .exclusive = true, .permissions = options.permissions};
    co_await write_and_close(temporary, bytes, how, options.durable);
    co_await rename(temporary, path);
  } catch (...) {  // rethrown below: nothing can be awaited here
    failure = std::current_exception();
  }
  if (failure) {
    co_await shield(remove_quietly(temporary));
    std::rethrow_exception(failure);
  }
  if (options.durable) co_await sync_directory_of(path);
}

task<void> write_copied(std::string path, std::span<const std::byte> bytes, write_options options) {
  if (options.atomic) {
    co_await replace(std::move(path), bytes, options);
  } else {
    const open_options how{.write = true, .create = true, .truncate = true, .permissions = options.permissions};
    co_await write_and_close(path, bytes, how, options.durable);
    if (options.durable) co_await sync_directory_of(path);
  }
}

}  // namespace

task<std::string> read_all(std::string path, std::size_t limit) {
  file source = co_await file::open(path);
  const status known = co_await source.stat();
  // The size is a guess: the file may grow, and files in /proc report none. One byte more
  // makes the last read find the end.
  constexpr std::size_t min_room = 4096;
  std::string text;
  std::size_t size = 0;
  std::size_t room = std::min(limit, std::max(min_room, static_cast<std::size_t>(known.size))) + 1;
  for (;;) {
    text.resize(room);
    const std::size_t n = co_await source.read_some(std::span(text).subspan(size));
    if (n == 0) break;
    size += n;
    if (size > limit) throw io_error(std::make_error_code(std::errc::file_too_large), "read_all", path);
    if (size == room) room = std::min(limit, 2 * room) + 1;
  }
  text.resize(size);
  co_return text;
}

task<void> write_all_to(std::string_view path, std::span<const std::byte> bytes, write_options options) {
  return write_copied(std::string(path), bytes, options);
}

task<void> write_all_to(std::string_view path, std::string_view text, write_options options) {
  return write_copied(std::string(path), std::as_bytes(std::span(text)), options);
}

}  // namespace gyre::fs
