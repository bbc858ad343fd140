// gyre/fs/file.hpp: an open file.
#pragma once

#include <gyre/coro/owned.hpp>
#include <gyre/fs/file_transfer.hpp>
#include <gyre/fs/open_options.hpp>
#include <gyre/fs/status.hpp>
#include <gyre/stream/byte_stream.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace gyre::fs {

class file;

/// open().
class GYRE_API [[nodiscard("co_await it")]] open_op : public path_operation<open_op> {
 public:
  open_op(std::string_view path, const open_options& options);
  open_op(open_op&& other) noexcept;
  ~open_op();

  bool try_now() noexcept;
  std::expected<file, std::error_code> take_result();
  [[noreturn]] void fail(std::error_code reason) const;
};

/// sync(), sync_data(), resize(): calls on an open file that return no value.
class GYRE_API [[nodiscard("co_await it")]] file_op : public file_operation<file_op> {
 public:
  file_op(file_state& file, io::opcode call, const char* name, std::uint32_t call_flags,
          std::uint64_t call_offset) noexcept
      : file_(&file), name_(name) {
    code = call;
    target = &file.descriptor();
    flags = call_flags;
    offset = call_offset;
  }
  void prepare() noexcept {
    file_->expect_open(name_);
    file_->expect_own_loop(name_);
  }
  std::expected<void, std::error_code> take_result() { return done_or_error(); }
  [[noreturn]] void fail(std::error_code reason) const;

 private:
  file_state* file_;
  const char* name_;
};

/// close().
class GYRE_API [[nodiscard("co_await it")]] file_close_op : public file_operation<file_close_op> {
 public:
  static constexpr bool ignores_cancel = true;
  explicit file_close_op(file_state* file) noexcept;
  // Only the base is moved.
  file_close_op(file_close_op&& from) noexcept
      : file_operation(std::move(from)),
        file_(std::exchange(from.file_, nullptr)) {}  // NOLINT(bugprone-use-after-move)
  ~file_close_op();
  bool try_now() noexcept;
  void start() noexcept;
  void on_cancel() noexcept {}
  void prepare() noexcept {}
  std::expected<void, std::error_code> take_result() { return done_or_error(); }
  [[noreturn]] void fail(std::error_code reason) const;

 private:
  file_state* file_;
};

/// An open file: a regular file, pipe, terminal or device, as a stream of bytes. A file with offsets can also be read
/// and written at them. The destructor closes it.
///
/// Reads and writes never block the loop. Anything but a regular file (or a disk) is made non-blocking, for all
/// processes that have it open through the same descriptor.
///
/// Operations on a file that is closed or was moved from stop the program with a message, except `close`, which is a
/// no-op.
/// Thread: belongs to the loop it was opened on, or to the first one that uses it. The program is stopped when a task
/// of another loop waits for an operation on it.
/// Overlap: any number of operations at offsets, but one read and one write at a time at the position. The file may be
/// closed and destroyed when no operation is in flight.
class GYRE_API file {
 public:
  file() noexcept = default;
  explicit file(file_state& state) noexcept : state_(&state) {}

  /// Opens or creates the file at `path`. A named pipe is opened without waiting for its other end. Opening it to write
  /// fails with ENXIO when there is no reader; reads find the end of the file until there is a writer.
  ///
  /// Lifetime: the path is copied.
  /// Cancel: not opened, or closed again, though a file may have been created or truncated.
  /// Errors: io_error "open /etc/shadow: Permission denied"; EINVAL for options that contradict each other.
  [[nodiscard("co_await it")]] static open_op open(std::string_view path, const open_options& options = for_reading) {
    return {path, options};
  }

  /// Takes over an open descriptor, and closes it on failure. `name` appears in errors.
  /// Errors: io_error "open name: Bad file descriptor".
  [[nodiscard]] static file from_fd(int fd, std::string_view name) { return file(file_state::adopt(fd, name)); }

  /// Reads at the position, at least one byte, and advances it. Returns the count, or 0 at the end of the file.
  ///
  /// Lifetime: `buffer` (and an array of buffers) stay valid until the await returns, even if it is cancelled.
  /// Cancel: nothing was read; bytes that came first win over the cancel.
  /// Errors: io_error "read_some /tmp: Is a directory". See read(2).
  [[nodiscard("co_await it")]] file_transfer_op read_some(std::span<std::byte> buffer GYRE_LIFETIMEBOUND) noexcept {
    return {*state_, buffer, extent::some, "read_some"};
  }
  [[nodiscard("co_await it")]] file_transfer_op read_some(std::span<char> buffer GYRE_LIFETIMEBOUND) noexcept {
    return read_some(std::as_writable_bytes(buffer));
  }
  [[nodiscard("co_await it")]] file_vector_op read_some(
      std::span<const io::mutable_buffer> buffers GYRE_LIFETIMEBOUND) noexcept {
    return {*state_, buffers, extent::some, "read_some"};
  }

  /// Fills the whole buffer from the position. Returns its size.
  ///
  /// Lifetime: same as read_some.
  /// Cancel: the position is unchanged. A pipe has none: the bytes that were already read are lost.
  /// Errors: incomplete_transfer when the file ends first; `transferred()` bytes are then in the buffer.
  [[nodiscard("co_await it")]] file_transfer_op read_exactly(std::span<std::byte> buffer GYRE_LIFETIMEBOUND) noexcept {
    return {*state_, buffer, extent::all, "read_exactly"};
  }
  [[nodiscard("co_await it")]] file_transfer_op read_exactly(std::span<char> buffer GYRE_LIFETIMEBOUND) noexcept {
    return read_exactly(std::as_writable_bytes(buffer));
  }

  /// Reads at `offset` without moving the position. Returns the count, which is smaller than the buffer only at the end
  /// of the file.
  ///
  /// Lifetime: same as read_some. Cancel: parts of the buffer may have been written.
  /// Errors: io_error; ESPIPE when the file has no offsets. See pread(2).
  [[nodiscard("co_await it")]] file_transfer_op read_at(std::span<std::byte> buffer GYRE_LIFETIMEBOUND,
                                                        std::uint64_t offset) noexcept {
    return {*state_, buffer, extent::up_to_end, "read_at", request_offset(offset)};
  }
  [[nodiscard("co_await it")]] file_transfer_op read_at(std::span<char> buffer GYRE_LIFETIMEBOUND,
                                                        std::uint64_t offset) noexcept {
    return read_at(std::as_writable_bytes(buffer), offset);
  }
  [[nodiscard("co_await it")]] file_vector_op read_at(std::span<const io::mutable_buffer> buffers GYRE_LIFETIMEBOUND,
                                                      std::uint64_t offset) noexcept {
    return {*state_, buffers, extent::up_to_end, "read_at", request_offset(offset)};
  }

  /// Writes some of the bytes at the position, at least one, and advances it. Returns the count.
  ///
  /// Lifetime: `bytes` (and an array of buffers) stay valid until the await returns, even if it is cancelled.
  /// Cancel: nothing was written; a count that came first wins over the cancel. Errors: io_error. See write(2).
  [[nodiscard("co_await it")]] file_transfer_op write_some(
      std::span<const std::byte> bytes GYRE_LIFETIMEBOUND) noexcept {
    return {*state_, bytes, extent::some, "write_some"};
  }
  [[nodiscard("co_await it")]] file_transfer_op write_some(std::string_view text GYRE_LIFETIMEBOUND) noexcept {
    return write_some(std::as_bytes(std::span(text)));
  }

  /// Writes all bytes at the position, or at the end of a file that was opened to append. Returns their number.
  ///
  /// Lifetime: same as write_some.
  /// Cancel: a first part may have been written; the position is after it. Errors: io_error; incomplete_transfer with
  /// the count that was written before.
  [[nodiscard("co_await it")]] file_transfer_op write_all(
      std::span<const std::byte> bytes GYRE_LIFETIMEBOUND) noexcept {
    return {*state_, bytes, extent::all, "write_all"};
  }
  [[nodiscard("co_await it")]] file_transfer_op write_all(std::string_view text GYRE_LIFETIMEBOUND) noexcept {
    return write_all(std::as_bytes(std::span(text)));
  }
  [[nodiscard("co_await it")]] file_vector_op write_all(
      std::span<const io::const_buffer> buffers GYRE_LIFETIMEBOUND) noexcept {
    return {*state_, buffers, extent::all, "write_all"};
  }

  /// Writes all bytes at `offset` without moving the position. Returns their number.
  ///
  /// Lifetime: same as write_some. Cancel: a first part may have been written.
  /// Errors: same as write_all; ESPIPE when the file has no offsets. See pwrite(2).
  [[nodiscard("co_await it")]] file_transfer_op write_at(std::span<const std::byte> bytes GYRE_LIFETIMEBOUND,
                                                         std::uint64_t offset) noexcept {
    return {*state_, bytes, extent::all, "write_at", request_offset(offset)};
  }
  [[nodiscard("co_await it")]] file_transfer_op write_at(std::string_view text GYRE_LIFETIMEBOUND,
                                                         std::uint64_t offset) noexcept {
    return write_at(std::as_bytes(std::span(text)), offset);
  }
  [[nodiscard("co_await it")]] file_vector_op write_at(std::span<const io::const_buffer> buffers GYRE_LIFETIMEBOUND,
                                                       std::uint64_t offset) noexcept {
    return {*state_, buffers, extent::all, "write_at", request_offset(offset)};
  }

  /// Returns when everything written so far is on the disk. sync_data does not sync the times.
  ///
  /// Cancel: the written data may be on the disk or not. Errors: io_error "sync x: Input/output error". See fsync(2).
  [[nodiscard("co_await it")]] file_op sync() noexcept { return {*state_, io::opcode::sync, "sync", 0, 0}; }
  [[nodiscard("co_await it")]] file_op sync_data() noexcept { return {*state_, io::opcode::sync, "sync_data", 1, 0}; }

  /// Truncates the file, or extends it with zeros. Units: bytes. See ftruncate(2).
  ///
  /// Cancel: done or not done. Errors: io_error "resize x: File too large".
  [[nodiscard("co_await it")]] file_op resize(std::uint64_t size) noexcept {
    return {*state_, io::opcode::resize, "resize", 0, size};
  }

  /// The status of the file: kind, size, permissions, times.
  ///
  /// Cancel: no effects. Errors: io_error. See statx(2).
  [[nodiscard("co_await it")]] status_op stat() { return status_op(*state_); }

  /// Closes, and returns when that is done. Destroying the file closes it at once and ignores errors. That may block on
  /// a network file system, or for the last name of a large file.
  ///
  /// Cancel: ignored. Errors: io_error "close x: No space left on device"; the file is closed then, too.
  [[nodiscard("co_await it")]] file_close_op close() noexcept {
    return file_close_op(is_open() ? state_.release() : nullptr);
  }

  /// The offset at which the next read or write at the position begins. Errors: io_error; ESPIPE when there is none.
  [[nodiscard]] std::uint64_t position() const;
  void set_position(std::uint64_t offset);

  /// The path of the file. Empty when it is closed.
  [[nodiscard]] const std::string& path() const noexcept { return state_->path; }
  /// False for a file that was moved from or closed.
  [[nodiscard]] bool is_open() const noexcept { return state_ != &file_state::closed; }
  /// The descriptor, still owned by the file; -1 when the file is closed.
  [[nodiscard]] int native_descriptor() const noexcept { return state_->fd; }
  [[nodiscard]] file_state& state() const noexcept { return *state_; }

 private:
  owned<file_state*, &file_state::release, &file_state::closed> state_;
};

static_assert(byte_stream<file>);

}  // namespace gyre::fs
