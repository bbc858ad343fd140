// gyre/fs/file_operation.hpp: awaits a single io::file_request. For authors of operations.
#pragma once

#include <gyre/fs/file_state.hpp>
#include <gyre/io/file_request.hpp>
#include <gyre/io/io_error.hpp>
#include <gyre/loop/operation.hpp>

#include <expected>
#include <string>
#include <string_view>
#include <system_error>
#include <type_traits>
#include <utility>

namespace gyre::fs {

/// Base of operations that consist of one file request. Derived provides
///   void prepare()                                    points the request at the operation's data
///   std::expected<T, std::error_code> take_result()   throws only `cancelled`
///   void fail(std::error_code)                        throws, with the operation's name and object
/// Cancel: ends the request if it has not begun. Otherwise the await returns when it is done, and its result counts.
template <class Derived>
class file_operation : public operation<Derived, io::file_request> {
 public:
  file_operation(file_operation&&) noexcept = default;
  file_operation& operator=(file_operation&&) = delete;
  ~file_operation() { expect_ended(*this, "in the middle of an operation on a file"); }

  bool try_now() noexcept { return false; }

  void start() noexcept {
    self().prepare();
    this->complete = call_member<&file_operation::on_complete>;
    event_loop& loop = event_loop::current();
    loop.expect_post();  // the clock waits for the request, which always completes on its own
    loop.backend().submit(*this);
  }
  void on_cancel() noexcept { event_loop::current().backend().cancel(*this); }
  void on_complete() noexcept {
    event_loop::current().expected_post_arrived();
    this->proceed(*this);
  }
  [[nodiscard]] bool fully_succeeded() const noexcept { return this->result >= 0; }

 protected:
  file_operation() noexcept { this->result = -1; }

  /// The error of a negative result. Throws `cancelled` when the operation ended for that reason.
  [[nodiscard]] std::error_code error() const { return this->error_of(this->result); }
  [[nodiscard]] std::expected<void, std::error_code> done_or_error() const {
    if (this->result < 0) return std::unexpected(error());
    return {};
  }

 private:
  Derived& self() noexcept { return static_cast<Derived&>(*this); }
};

/// The same for operations that take a path. The path is copied into the operation.
template <class Derived>
class path_operation : public file_operation<Derived> {
 public:
  /// Rejects a path with a zero byte, which would end it early.
  bool try_now() noexcept {
    if (path_.find('\0') == std::string::npos) return false;
    this->result = -static_cast<int>(std::errc::invalid_argument);
    return true;
  }
  void prepare() noexcept { this->address = path_.data(); }

 protected:
  path_operation(io::opcode call, std::string_view path) : path_(path) {
    this->code = call;
    this->target = &io::working_directory();
  }

  std::string path_;
};

}  // namespace gyre::fs
