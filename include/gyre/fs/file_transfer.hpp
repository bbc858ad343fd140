// gyre/fs/file_transfer.hpp: the awaitables that read and write files. For authors of operations.
#pragma once

#include <gyre/fs/file_operation.hpp>

#include <cstddef>
#include <cstdint>
#include <expected>
#include <span>
#include <system_error>

namespace gyre::fs {

/// How much of the buffer an operation must transfer.
enum class extent : std::uint8_t {
  some,       ///< the bytes of one call, at least one
  up_to_end,  ///< everything, or the bytes up to the end of the file
  all,        ///< everything; less is an error
};

/// The offset of a request. An offset that no file can have (2^63 or more) becomes one that is refused with EINVAL,
/// because the largest number denotes the position.
[[nodiscard]] constexpr std::uint64_t request_offset(std::uint64_t given) noexcept {
  constexpr std::uint64_t none = std::uint64_t{1} << 63U;
  return given < none ? given : none;
}

/// The common base of reads and writes: sends one request after the other until enough has been transferred. For a file
/// that has readiness, such as a pipe, a request waits for readiness, and the call itself does not block.
class GYRE_API file_transfer_base : public operation<file_transfer_base, io::file_request> {
 public:
  file_transfer_base(file_transfer_base&&) noexcept = default;
  ~file_transfer_base() { expect_ended(*this, "in the middle of a read or write of a file"); }

  bool try_now() noexcept;
  void start() noexcept;
  void on_cancel() noexcept;
  void on_complete() noexcept;
  std::expected<std::size_t, std::error_code> take_result();
  [[noreturn]] void fail(std::error_code reason) const;
  [[nodiscard]] bool fully_succeeded() const noexcept {
    return error_ == 0 && (done_ == total_ || (extent_ == extent::up_to_end && ended_));
  }

 protected:
  file_transfer_base(file_state& file, io::opcode call, std::size_t size, extent wanted, const char* name,
                     std::uint64_t at) noexcept
      : file_(&file), name_(name), total_(size), call_(call), extent_(wanted) {
    offset = at;
  }
  [[nodiscard]] std::size_t done() const noexcept { return done_; }

 private:
  [[nodiscard]] bool reading() const noexcept { return call_ == io::opcode::read || call_ == io::opcode::read_vector; }
  [[nodiscard]] bool vectored() const noexcept {
    return call_ == io::opcode::read_vector || call_ == io::opcode::write_vector;
  }
  [[nodiscard]] bool sequential() const noexcept { return offset == current_position || file_->waits; }
  [[nodiscard]] operation_base*& user_of_position() const noexcept { return reading() ? file_->reader : file_->writer; }
  [[nodiscard]] bool is_finished() const noexcept;
  [[nodiscard]] bool refuse() noexcept;
  [[noreturn]] void stop_for_two_users() const noexcept;
  [[nodiscard]] long call_now(int call_flags) noexcept;
  [[nodiscard]] bool transfer_without_waiting() noexcept;
  [[nodiscard]] bool transfer_in_memory() noexcept;
  void point_at_rest() noexcept;
  void absorb(long count) noexcept;
  void submit() noexcept;
  void take_back() noexcept;

  file_state* file_;
  const char* name_;

 protected:
  std::size_t total_;

 private:
  std::size_t done_ = 0;
  int error_ = 0;  // errno
  io::opcode call_;
  extent extent_;
  bool ended_ = false;     // the end of the file was reached
  bool stopped_ = false;   // cancelled: starts no further request
  bool expected_ = false;  // the clock of the loop waits for the request
};

/// A transfer of one span of bytes.
class GYRE_API [[nodiscard("co_await it")]] file_transfer_op : public file_transfer_base {
 public:
  file_transfer_op(file_state& file, std::span<std::byte> into, extent wanted, const char* name,
                   std::uint64_t at = current_position) noexcept
      : file_transfer_base(file, io::opcode::read, into.size(), wanted, name, at) {
    address = into.data();
  }
  file_transfer_op(file_state& file, std::span<const std::byte> bytes, extent wanted, const char* name,
                   std::uint64_t at = current_position) noexcept
      : file_transfer_base(file, io::opcode::write, bytes.size(), wanted, name, at) {
    address = const_cast<std::byte*>(bytes.data());
  }
};

/// A transfer of several buffers.
class GYRE_API [[nodiscard("co_await it")]] file_vector_op : public file_transfer_base {
 public:
  file_vector_op(file_state& file, std::span<const io::mutable_buffer> into, extent wanted, const char* name,
                 std::uint64_t at = current_position) noexcept;
  file_vector_op(file_state& file, std::span<const io::const_buffer> bytes, extent wanted, const char* name,
                 std::uint64_t at = current_position) noexcept;

 private:
  friend class file_transfer_base;
  void fill_window() noexcept;

  std::span<const io::mutable_buffer> into_;
  std::span<const io::const_buffer> from_;
  io::mutable_buffer window_[16];
};

}  // namespace gyre::fs
