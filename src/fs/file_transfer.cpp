// src/fs/file_transfer.cpp: reads and writes a file until enough bytes are transferred.
#include <gyre/fs/file_transfer.hpp>
#include <gyre/io/kernel.hpp>

#include <sys/uio.h>

#include <algorithm>
#include <cerrno>

namespace gyre::fs {

constexpr std::size_t max_at_once = std::size_t{1} << 30U;

// Points the request at the remaining bytes.
void file_transfer_base::point_at_rest() noexcept {
  if (vectored())
    static_cast<file_vector_op&>(*this).fill_window();
  else
    length = static_cast<std::uint32_t>(std::min(max_at_once, total_ - done_));
}

// Takes over the result of a call: a count, or -errno.
void file_transfer_base::absorb(long count) noexcept {
  if (count > 0) {
    done_ += static_cast<std::size_t>(count);
    if (!vectored()) address = static_cast<std::byte*>(address) + count;
    if (offset != current_position) offset += static_cast<std::uint64_t>(count);
  } else if (count == -ECANCELED) {
    stopped_ = true;
  } else if (count < 0) {
    error_ = static_cast<int>(-count);
  } else if (reading()) {
    ended_ = true;
  } else {
    error_ = EIO;  // a write of 0 bytes without an error would be repeated for ever
  }
}

bool file_transfer_base::is_finished() const noexcept {
  return error_ != 0 || ended_ || stopped_ || done_ == total_ || (extent_ == extent::some && done_ > 0);
}

// Returns true when the operation fails before any call.
bool file_transfer_base::refuse() noexcept {
  // The ring would ignore the offset where the system call refuses it.
  if (offset != current_position && !file_->seekable) error_ = ESPIPE;
  // Both would take a negative offset for the current position.
  if (offset != current_position && static_cast<std::int64_t>(offset) < 0) error_ = EINVAL;
  if (error_ != 0) return true;
  if (sequential() && user_of_position() != nullptr) stop_for_two_users();
  return false;
}

void file_transfer_base::stop_for_two_users() const noexcept {
  file_->expect_open(name_);
  misuse(reading() ? "two tasks read at the position of one file at the same time: use read_at()"
                   : "two tasks write at the position of one file at the same time: use write_at()");
}

bool file_transfer_base::try_now() noexcept {
  if (refuse() || total_ == 0) return true;
  if constexpr (checks_everything) file_->expect_own_loop(name_);
  if (file_->waits) return transfer_without_waiting();
  return (reading() ? file_->reads_now : file_->writes_now) && transfer_in_memory();
}

// Makes one call that must not block: the file is non-blocking, or `call_flags` say so. Returns a count or -errno.
long file_transfer_base::call_now(int call_flags) noexcept {
  point_at_rest();
  if (!reading() && file_->waits) {
    io::file_request now;
    now.code = call_;
    now.target = &file_->descriptor();
    now.address = address;
    now.length = length;
    now.offset = offset;
    return io::perform_without_signal(now);
  }
  const iovec whole{.iov_base = address, .iov_len = length};
  const iovec* const buffers = vectored() ? static_cast<const iovec*>(address) : &whole;
  const int count = vectored() ? static_cast<int>(length) : 1;
  const auto at = static_cast<off_t>(offset);  // the kernel also uses -1 for the current position
  const long n = io::transfer_at(reading(), file_->fd, buffers, count, at, call_flags);
  return n < 0 ? -errno : n;
}

// For files that can be polled. Returns true when the operation is finished, false when it has to wait for readiness.
bool file_transfer_base::transfer_without_waiting() noexcept {
  while (!is_finished()) {
    const long n = call_now(0);
    if (n == -EAGAIN) return false;
    if (n != -EINTR) absorb(n);
  }
  return true;
}

// Transfers that need only the page cache complete at once, on every backend. Returns
// true when the operation is finished.
bool file_transfer_base::transfer_in_memory() noexcept {
  constexpr std::size_t max_inline = std::size_t{256} << 10U;  // a larger one would keep the loop busy for too long
  if (total_ > max_inline) return false;
  while (!is_finished()) {
    const long n = call_now(RWF_NOWAIT);
    if (n == -EAGAIN || n == -EINTR) return false;
    if (n == -EOPNOTSUPP || n == -ENOSYS || n == -EINVAL) {
      (reading() ? file_->reads_now : file_->writes_now) = false;  // the request reports any other error
      return false;
    }
    absorb(n);
  }
  return true;
}

void file_transfer_base::start() noexcept {
  if (sequential()) user_of_position() = this;
  submit();
}

void file_transfer_base::submit() noexcept {
  file_->expect_own_loop(name_);
  target = &file_->descriptor();
  complete = call_member<&file_transfer_base::on_complete>;
  if (file_->waits) {
    code = reading() ? io::opcode::wait_readable : io::opcode::wait_writable;
  } else {
    code = call_;
    if (!reading() && !file_->writes_now) flags = io::file_request::may_wait_for_memory;
    point_at_rest();
    expected_ = true;
    event_loop::current().expect_post();
  }
  event_loop::current().backend().submit(*this);
}

void file_transfer_base::on_cancel() noexcept {
  stopped_ = true;
  event_loop::current().backend().cancel(*this);
}

void file_transfer_base::on_complete() noexcept {
  if (expected_) event_loop::current().expected_post_arrived();
  expected_ = false;
  const bool is_ready = file_->waits && result >= 0;
  if (!is_ready)
    absorb(result);
  else if (!stopped_)
    (void)transfer_without_waiting();
  if (!is_finished()) {
    submit();
    return;
  }
  if (sequential()) user_of_position() = nullptr;
  proceed(*this);
}

// A read_exactly that is cancelled midway has no effect.
void file_transfer_base::take_back() noexcept {
  if (offset == current_position && file_->seekable && done_ > 0)
    io::files().lseek(file_->fd, -static_cast<off_t>(done_), SEEK_CUR);
  done_ = 0;
}

std::expected<std::size_t, std::error_code> file_transfer_base::take_result() {
  if ((done_ == total_ && error_ == 0) || (extent_ == extent::some && done_ > 0)) return done_;
  if (error_ != 0) return std::unexpected(std::error_code(error_, std::generic_category()));
  if (ended_ && extent_ != extent::all) return done_;
  if (ended_) return std::unexpected(make_error_code(stream_errc::end_of_stream));
  if (reading() && extent_ == extent::all) take_back();
  return std::unexpected(cancel_error());
}

void file_transfer_base::fail(std::error_code reason) const {
  if (done_ > 0 || reason == stream_errc::end_of_stream) throw incomplete_transfer(reason, name_, file_->path, done_);
  throw io_error(reason, name_, file_->path);
}

// ---- several buffers

file_vector_op::file_vector_op(file_state& file, std::span<const io::mutable_buffer> into, extent wanted,
                               const char* name, std::uint64_t at) noexcept
    : file_transfer_base(file, io::opcode::read_vector, 0, wanted, name, at), into_(into) {
  for (const io::mutable_buffer& each : into) total_ += each.size;
}

file_vector_op::file_vector_op(file_state& file, std::span<const io::const_buffer> bytes, extent wanted,
                               const char* name, std::uint64_t at) noexcept
    : file_transfer_base(file, io::opcode::write_vector, 0, wanted, name, at), from_(bytes) {
  for (const io::const_buffer& each : bytes) total_ += each.size;
}

void file_vector_op::fill_window() noexcept {
  std::size_t skip = done();
  std::size_t room = max_at_once;
  std::uint32_t count = 0;
  const auto add = [&](void* data, std::size_t size) {
    if (count == std::size(window_) || room == 0) return;
    if (skip >= size) {
      skip -= size;
      return;
    }
    const std::size_t part = std::min(size - skip, room);
    window_[count++] = {static_cast<std::byte*>(data) + skip, part};
    room -= part;
    skip = 0;
  };
  for (const io::mutable_buffer& each : into_) add(each.data, each.size);
  for (const io::const_buffer& each : from_) add(const_cast<void*>(each.data), each.size);
  address = window_;
  length = count;
}

}  // namespace gyre::fs
