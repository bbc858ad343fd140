// gyre/loop/io_operation.hpp: awaits one io::request. For authors of operations.
#pragma once

#include <gyre/io/io_error.hpp>
#include <gyre/loop/operation.hpp>

#include <expected>

namespace gyre {

/// Base of operations that consist of one request. Derived fills in the request, and provides
///   std::expected<T, std::error_code> take_result()   throws only `cancelled`
///   void fail(std::error_code)                        throws, with the operation's name and object
/// An operation may be moved until it starts. So one that owns its io::descriptor sets `target` in `start` or in its
/// move constructor, and calls backend().detach(descriptor) when it has ended. On epoll, a second io::descriptor of the
/// same file descriptor fails with EEXIST; readiness_op shows the remedy, a duplicate.
/// Cancel: asks the kernel to stop. The await returns when the kernel has answered, with the result achieved by then.
template <class Derived>
class io_operation : public operation<Derived, io::request> {
 public:
  io_operation(io_operation&&) noexcept = default;
  io_operation& operator=(io_operation&&) = delete;
  ~io_operation() { expect_ended(*this, "while the kernel still uses one of its buffers"); }

  bool try_now() noexcept { return false; }

  void start() noexcept {
    this->complete = call_member<&Derived::on_complete>;
    event_loop::current().backend().submit(*this);
  }
  void on_cancel() noexcept { event_loop::current().backend().cancel(*this); }

 protected:
  io_operation() noexcept = default;

  /// The error of a negative result. Throws `cancelled` when the operation ended because of a cancel.
  [[nodiscard]] std::error_code error() const { return this->error_of(this->result); }
};

}  // namespace gyre
