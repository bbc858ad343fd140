// src/fs/file.cpp: opening, closing, and operations on an open file.
#include <gyre/fs/file.hpp>
#include <gyre/io/kernel.hpp>

#include <fcntl.h>

#include <cerrno>

namespace gyre::fs {
namespace {

constexpr int contradiction = -1;

int flags_of(const open_options& o) noexcept {
  const bool writes = o.write || o.append;
  if (!o.read && !writes) return contradiction;
  if ((o.create || o.truncate) && !writes) return contradiction;
  if (o.exclusive && !o.create) return contradiction;
  if (o.truncate && o.append) return contradiction;
  if (o.permissions > 07777) return contradiction;
  int flags = writes ? (o.read ? O_RDWR : O_WRONLY) : O_RDONLY;
  if (o.create) flags |= O_CREAT;
  if (o.truncate) flags |= O_TRUNC;
  if (o.append) flags |= O_APPEND;
  if (o.exclusive) flags |= O_EXCL;
  if (o.directory) flags |= O_DIRECTORY;
  // Opening a pipe does not block, and no terminal becomes this process's controlling terminal.
  return flags | O_NONBLOCK | O_NOCTTY;
}

}  // namespace

// ---- open

open_op::open_op(std::string_view path, const open_options& options) : path_operation(io::opcode::open, path) {
  flags = static_cast<std::uint32_t>(flags_of(options));
  mode = options.permissions;
}

// NOLINTNEXTLINE(bugprone-use-after-move): only the base is moved
open_op::open_op(open_op&& from) noexcept : path_operation(std::move(from)) { from.result = -1; }

open_op::~open_op() {
  if (result >= 0) io::files().close(result);  // nobody took the result
}

bool open_op::try_now() noexcept {
  if (path_operation::try_now()) return true;
  if (static_cast<int>(flags) != contradiction) return false;
  result = -EINVAL;
  return true;
}

std::expected<file, std::error_code> open_op::take_result() {
  if (result < 0) return std::unexpected(error());
  return file(file_state::adopt(std::exchange(result, -1), path_));
}

void open_op::fail(std::error_code reason) const { throw io_error(reason, "open", path_); }

// ---- on an open file

void file_op::fail(std::error_code reason) const { throw io_error(reason, name_, file_->path); }

std::uint64_t file::position() const {
  state_->expect_open("position");
  const off_t at = io::files().lseek(state_->fd, 0, SEEK_CUR);
  if (at < 0) throw io_error({errno, std::generic_category()}, "position", state_->path);
  return static_cast<std::uint64_t>(at);
}

void file::set_position(std::uint64_t offset) {
  state_->expect_open("set_position");
  if (io::files().lseek(state_->fd, static_cast<off_t>(offset), SEEK_SET) < 0)
    throw io_error({errno, std::generic_category()}, "set_position", state_->path);
}

// ---- close

file_close_op::file_close_op(file_state* file) noexcept : file_(file) {
  code = io::opcode::close;
  if (file != nullptr) target = &file->descriptor();
}

bool file_close_op::try_now() noexcept {
  if (file_ == nullptr) result = 0;
  return file_ == nullptr;
}

void file_close_op::start() noexcept {
  file_->expect_own_loop("close");
  if (file_->in_flight > 0 || file_->reader != nullptr || file_->writer != nullptr)
    misuse("a file was closed while another task reads from it or writes to it: cancel and await that task first");
  event_loop::current().backend().detach(file_->descriptor());
  file_operation::start();
}

file_close_op::~file_close_op() {
  if (file_ == nullptr) return;
  if (waiter == nullptr && complete == nullptr)
    file_->release();  // was never awaited
  else
    file_->forget();
}

void file_close_op::fail(std::error_code reason) const { throw io_error(reason, "close", file_->path); }

}  // namespace gyre::fs
