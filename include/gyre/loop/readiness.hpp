// gyre/loop/readiness.hpp: waits until any descriptor is readable or writable.
#pragma once

#include <gyre/attributes.hpp>
#include <gyre/io/request.hpp>
#include <gyre/loop/operation.hpp>

#include <expected>
#include <system_error>

namespace gyre {

/// The operation of readable() and writable().
class GYRE_API [[nodiscard("co_await it")]] readiness_op : public operation<readiness_op, io::request> {
 public:
  readiness_op(int fd, io::opcode direction) noexcept : descriptor_{.fd = fd} {
    code = direction;
    target = &descriptor_;
  }
  // Only before it has started: then the constructor arguments are its whole state.
  readiness_op(readiness_op&& from) noexcept : readiness_op(from.descriptor_.fd, from.code) {}
  readiness_op& operator=(readiness_op&&) = delete;
  ~readiness_op();

  bool try_now() noexcept;
  void start() noexcept;
  void on_cancel() noexcept;
  void on_complete() noexcept;
  std::expected<void, std::error_code> take_result() const;
  [[noreturn]] void fail(std::error_code reason) const;
  [[nodiscard]] bool fully_succeeded() const noexcept { return result == 0; }

 private:
  io::descriptor descriptor_;
  int duplicate_ = -1;
  bool cancelled_ = false;
};

/// Waits until reading from `fd` would not block: there is data, the end of the stream, or an error. For descriptors
/// from which other code reads. The reader must still be prepared to find nothing. asyncio: add_reader.
///
/// Lifetime: `fd` must stay open until the await returns. Any number of tasks may wait for one descriptor.
/// Cancel: the descriptor is unchanged. Errors: io_error "readable 7: Bad file descriptor". See poll(2).
[[nodiscard("co_await it")]] inline readiness_op readable(int fd) noexcept { return {fd, io::opcode::wait_readable}; }

/// The same until writing would not block: there is room, the reading end is closed, or an error. asyncio: add_writer.
///
/// Lifetime, Cancel, Errors: same as readable().
[[nodiscard("co_await it")]] inline readiness_op writable(int fd) noexcept { return {fd, io::opcode::wait_writable}; }

}  // namespace gyre
