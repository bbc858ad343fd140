// gyre/interop/context_awaits.hpp: the awaits on objects of one context of another library. For asio_operation.hpp.
#pragma once

#include <gyre/attributes.hpp>
#include <gyre/loop/operation.hpp>

#include <mutex>
#include <string_view>

namespace gyre {

class context_awaits;

/// An await of an operation on an object of a context, such as a socket of an io_context. The task that awaits may own
/// the object, and then it destroys the object in the context. So the await must return before the context ends.
///
/// Lifetime: lives in the awaiting frame.
class GYRE_API context_await {
 public:
  context_await() noexcept = default;
  context_await& operator=(context_await&&) = delete;

  /// The await has returned to its loop. Stops the program when the context has ended meanwhile: the task, once it
  /// continues, would use memory that is freed. No-op for an await that was never added. Thread: the task's.
  void remove() noexcept;

 private:
  friend class context_awaits;

  context_awaits* among_ = nullptr;
  context_await* previous_ = nullptr;
  context_await* next_ = nullptr;
  const operation_base* awaited_ = nullptr;
  std::string_view operation_;
  const char* ended_ = nullptr;  // the context that has ended, for the message
};

/// The awaits on the objects of one context. Lives in the context.
///
/// Thread: any.
class GYRE_API context_awaits {
 public:
  context_awaits() noexcept = default;
  context_awaits& operator=(context_awaits&&) = delete;

  /// `operation` ("async_receive") is a literal. Lifetime: `each` stays until remove(), and `awaited` as long as it.
  void add(context_await& each, const operation_base& awaited, std::string_view operation) noexcept;
  /// Stops the program when there is an await: `object` ("an asio_on_loop") was destroyed too early.
  void expect_none(const char* object) noexcept;
  /// The context ends. Stops nothing yet: a program that ends by std::exit destroys its contexts, and its tasks never
  /// continue. `object` ("an io_context") is for the message of those that do.
  void context_ends(const char* object) noexcept;

 private:
  friend class context_await;

  std::mutex mutex_;
  context_await* first_ = nullptr;
};

}  // namespace gyre
