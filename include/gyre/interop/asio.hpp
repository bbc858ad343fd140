// gyre/interop/asio.hpp: awaits operations of Asio in gyre's tasks, and tasks in Asio. Needs Asio 1.22 or newer.
#pragma once

#include <gyre/interop/asio_guest.hpp>
#include <gyre/interop/asio_operation.hpp>
#include <gyre/interop/asio_reply.hpp>
#include <gyre/interop/asio_runner.hpp>

#include <asio/associated_cancellation_slot.hpp>
#include <asio/associated_executor.hpp>
#include <asio/async_result.hpp>
#include <asio/bind_executor.hpp>
#include <asio/cancellation_signal.hpp>
#include <asio/dispatch.hpp>
#include <asio/error.hpp>
#include <asio/execution/context.hpp>
#include <asio/execution_context.hpp>
#include <asio/executor_work_guard.hpp>
#include <asio/io_context.hpp>
#include <asio/posix/stream_descriptor.hpp>
#include <asio/post.hpp>
#include <asio/query.hpp>
#include <asio/steady_timer.hpp>
#include <asio/system_error.hpp>
#include <asio/system_executor.hpp>

#include <exception>
#include <source_location>
#include <system_error>
#include <type_traits>
#include <utility>

namespace gyre {

/// Adapts gyre to the stand-alone Asio.
struct asio_library : asio_aborting<asio::system_error, asio::error::operation_aborted> {
  using error_code = asio::error_code;
  using system_executor = asio::system_executor;
  using executor_of_plain_function = typename asio::associated_executor<nothing_stored>::type;
  using io_context = asio::io_context;
  using execution_context = asio::execution_context;
  using service = asio::execution_context::service;
  using service_id = asio::execution_context::id;
  using signal = asio::cancellation_signal;
  using work_guard = asio::executor_work_guard<asio::io_context::executor_type>;
  using stream_descriptor = asio::posix::stream_descriptor;
  using steady_timer = asio::steady_timer;
  static constexpr auto wait_read = asio::posix::stream_descriptor::wait_read;
  static constexpr bool has_slots = true;

  struct slot_of_handler {
    using cancellation_slot_type = asio::cancellation_slot;
    explicit slot_of_handler(signal& s) noexcept : slot(s.slot()) {}
    [[nodiscard]] cancellation_slot_type get_cancellation_slot() const noexcept { return slot; }
    cancellation_slot_type slot;
  };

  static execution_context* pointer_to(execution_context& context) noexcept { return &context; }
  /// Null when the executor does not expose its context.
  template <class Executor>
  static execution_context* context_of(const Executor& executor) {
    if constexpr (requires { pointer_to(asio::query(executor, asio::execution::context)); })
      return pointer_to(asio::query(executor, asio::execution::context));
    else
      return nullptr;
  }
  template <class Service>
  static Service& use_service(execution_context& context) {
    return asio::use_service<Service>(context);
  }
  template <class Executor, class Handler>
  static auto bind_executor(const Executor& executor, Handler&& handler) {
    return asio::bind_executor(executor, std::forward<Handler>(handler));
  }
  template <class Executor, class F>
  static void dispatch(const Executor& executor, F f) {
    asio::dispatch(executor, std::move(f));
  }
  template <class Executor, class F>
  static void post(const Executor& executor, F f) {
    asio::post(executor, std::move(f));
  }
  static void emit(signal& s) { s.emit(asio::cancellation_type::all); }
  template <class Handler>
  static auto make_work_guard(const Handler& handler) {
    return asio::make_work_guard(handler);
  }
  template <class Handler, class F>
  static void assign_slot(const Handler& handler, F on_cancel) {
    auto slot = asio::get_associated_cancellation_slot(handler);
    if (slot.is_connected()) slot.assign([f = std::move(on_cancel)](asio::cancellation_type_t) mutable { f(); });
  }
  template <class Handler>
  static void clear_slot(const Handler& handler) {
    asio::get_associated_cancellation_slot(handler).clear();
  }
};

/// An io_context that runs in a thread of its own. Operations on its objects, awaited with use_gyre, resume on the
/// loop.
///
///   gyre::asio_thread asio_side;
///   asio::ip::tcp::socket socket(asio_side.context());
///
/// Lifetime: ends when it is destroyed, which stops the context and joins the thread. Objects of the context, such as
/// sockets and timers, must be destroyed first: end the tasks that use them (cancel, and await). The program is stopped
/// when a task awaits an operation of one. An await that waits for no such object (async_initiate, a channel that is
/// kept elsewhere) throws callback_dropped. If the program stops the context itself, the thread ends and does nothing
/// more. Thread: any but its own.
using asio_thread = asio_runner<asio_library>;

/// An io_context that the loop of this thread drives beside its own work: no thread, and no hop. Handlers run on the
/// loop's thread between tasks, and may use objects of the loop: set an event, spawn, cancel.
///
///   gyre::asio_on_loop asio_side;
///   asio::ip::tcp::socket socket(asio_side.context());
///
/// Exceptions of handlers are reported to the loop's exception handler. If the program stops the context, the loop
/// ignores it until it is restarted. Every operation in the context can wake the loop, which then waits in Asio for
/// both.
/// Lifetime: awaits on its objects must have ended when it is destroyed; the program is stopped otherwise. Keep tasks
/// that handlers spawn in an async_scope. If it has a context of its own, these objects must be destroyed first. One
/// per loop. Thread: the loop's. Errors: same as event_loop::drive.
using asio_on_loop = asio_guest<asio_library>;

/// Runs a gyre task for Asio. An initiating function, which takes any completion token. `loop` runs the task on its own
/// thread. The signature is void(std::exception_ptr) or void(std::exception_ptr, T).
///
///   int n = co_await gyre::async_run(loop, count_lines("a.txt"), asio::use_awaitable);
///
/// A handler is called through its associated executor, or on the loop's thread if it has none.
/// Cancel: the handler's slot cancels the task, which ends with asio::error::operation_aborted unless it had a result.
/// Emit its signal where the handler is called. The end of the loop cancels the task, too. Thread: any; the loop must
/// not end before this has returned.
/// Lifetime: the context of the handler's executor outlives the task, which posts to it. Destroying an io_context in
/// which a coroutine of Asio waits does not end the task. End the task first, or the loop.
template <class T, class Token>
auto async_run(event_loop& loop, task<T> work, Token&& token,
               std::source_location where = std::source_location::current()) {
  return asio::async_initiate<Token, typename asio_reply_signature<T>::type>(
      asio_task_initiation<asio_library, T>{&loop, where}, token, std::move(work));
}
/// The same for `f()`: a lambda and its captures live as long as the task.
template <class F, class Token>
  requires task_function<F>
auto async_run(event_loop& loop, F f, Token&& token, std::source_location where = std::source_location::current()) {
  return async_run(loop, call_in_frame(std::move(f)), std::forward<Token>(token), where);
}

}  // namespace gyre

template <class R, class... Results>
class asio::async_result<gyre::use_gyre_t, R(Results...)>
    : public gyre::asio_awaitable<gyre::asio_library, Results...> {};
template <class Executor, class R, class... Results>
class asio::async_result<gyre::use_gyre_on_t<Executor>, R(Results...)>
    : public gyre::asio_awaitable<gyre::asio_library, Results...> {};
template <class Token, class Executor, class R, class... Results>
  requires gyre::ends_in_use_gyre<Token>
class asio::async_result<asio::executor_binder<Token, Executor>, R(Results...)>
    : public gyre::asio_bound_result<gyre::asio_library, asio::async_result<Token, R(Results...)>, Executor> {};
