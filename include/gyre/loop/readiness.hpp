// gyre/loop/readiness.hpp: waiting until any descriptor can be read or written.
#pragma once

#include <gyre/attributes.hpp>
#include <gyre/io/request.hpp>
#include <gyre/loop/operation.hpp>

#include <expected>
#include <system_error>

namespace gyre {

/// readable(), writable().
class GYRE_API [[nodiscard("co_await it")]] readiness_op : public operation<readiness_op, io::request> {
 public:
  readiness_op(int fd, io::opcode direction) noexcept : descriptor_{.fd = fd} {
    code = direction;
    target = &descriptor_;
  }
  // Only before it has begun, when all there is to move is what it was made from.
  readiness_op(readiness_op&& from) noexcept : readiness_op(from.descriptor_.fd, from.code) {}
  readiness_op& operator=(readiness_op&&) = delete;
  ~readiness_op();

  bool try_now() noexcept;
  void start() noexcept;
  std::expected<void, std::error_code> take_result() const;
  void await_resume() const;
  [[noreturn]] void fail(std::error_code reason) const;
  [[nodiscard]] bool fully_succeeded() const noexcept { return result == 0; }

 private:
  void ended() noexcept;

  io::descriptor descriptor_;
  int duplicate_ = -1;
  bool cancelled_ = false;
};

/// Waits until reading from `fd` would not block: there is something to read, the end, or an error. For descriptors that
/// other code reads from; whoever reads must be ready to find nothing all the same. asyncio: add_reader.
///
/// Lifetime: `fd` stays open until the await returns. Any number of tasks may wait for one descriptor.
/// Cancel: nothing has happened to the descriptor. Errors: io_error "readable 7: Bad file descriptor". See poll(2).
[[nodiscard("co_await it")]] inline readiness_op readable(int fd) noexcept { return {fd, io::opcode::wait_readable}; }

/// The same until writing would not block: there is room, nobody reads any more, or an error. asyncio: add_writer.
///
/// Lifetime, Cancel, Errors: as readable.
[[nodiscard("co_await it")]] inline readiness_op writable(int fd) noexcept { return {fd, io::opcode::wait_writable}; }

}  // namespace gyre
