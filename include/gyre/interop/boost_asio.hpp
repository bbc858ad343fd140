// gyre/interop/boost_asio.hpp: asio.hpp for Boost.Asio 1.74 and newer; cancels need slots, which exist since 1.77.
#pragma once

#include <gyre/interop/asio_guest.hpp>
#include <gyre/interop/asio_operation.hpp>
#include <gyre/interop/asio_reply.hpp>
#include <gyre/interop/asio_runner.hpp>

#include <boost/asio/associated_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/execution/context.hpp>
#include <boost/asio/execution_context.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/query.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/system_executor.hpp>
#include <boost/system/error_code.hpp>
#include <boost/system/system_error.hpp>
#if __has_include(<boost/asio/cancellation_signal.hpp>)
#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#endif

#include <exception>
#include <source_location>
#include <system_error>
#include <type_traits>
#include <utility>

namespace gyre {

/// Adapts gyre to Boost.Asio.
struct boost_asio_library : asio_aborting<boost::system::system_error, boost::asio::error::operation_aborted> {
  using error_code = boost::system::error_code;
  using system_executor = boost::asio::system_executor;
  using executor_of_plain_function = typename boost::asio::associated_executor<nothing_stored>::type;
  using io_context = boost::asio::io_context;
  using execution_context = boost::asio::execution_context;
  using service = boost::asio::execution_context::service;
  using service_id = boost::asio::execution_context::id;
  using work_guard = boost::asio::executor_work_guard<boost::asio::io_context::executor_type>;
  using stream_descriptor = boost::asio::posix::stream_descriptor;
  using steady_timer = boost::asio::steady_timer;
  static constexpr auto wait_read = boost::asio::posix::stream_descriptor::wait_read;

#if __has_include(<boost/asio/cancellation_signal.hpp>)
  static constexpr bool has_slots = true;
  using signal = boost::asio::cancellation_signal;

  struct slot_of_handler {
    using cancellation_slot_type = boost::asio::cancellation_slot;
    explicit slot_of_handler(signal& s) noexcept : slot(s.slot()) {}
    [[nodiscard]] cancellation_slot_type get_cancellation_slot() const noexcept { return slot; }
    cancellation_slot_type slot;
  };
  static void emit(signal& s) { s.emit(boost::asio::cancellation_type::all); }
  template <class Handler, class F>
  static void assign_slot(const Handler& handler, F on_cancel) {
    auto slot = boost::asio::get_associated_cancellation_slot(handler);
    if (slot.is_connected()) slot.assign([f = std::move(on_cancel)](boost::asio::cancellation_type_t) mutable { f(); });
  }
  template <class Handler>
  static void clear_slot(const Handler& handler) {
    boost::asio::get_associated_cancellation_slot(handler).clear();
  }
#else
  static constexpr bool has_slots = false;
  struct signal {};
  struct slot_of_handler {
    explicit slot_of_handler(signal& /*none*/) noexcept {}
  };
  static void emit(signal& /*none*/) {}
  template <class Handler, class F>
  static void assign_slot(const Handler& /*has none*/, F /*on_cancel*/) {}
  template <class Handler>
  static void clear_slot(const Handler& /*has none*/) {}
#endif

  static execution_context* pointer_to(execution_context& context) noexcept { return &context; }
  /// Null when the executor does not expose its context.
  template <class Executor>
  static execution_context* context_of(const Executor& executor) {
    if constexpr (requires { pointer_to(boost::asio::query(executor, boost::asio::execution::context)); })
      return pointer_to(boost::asio::query(executor, boost::asio::execution::context));
    else
      return nullptr;
  }
  template <class Service>
  static Service& use_service(execution_context& context) {
    return boost::asio::use_service<Service>(context);
  }
  template <class Executor, class Handler>
  static auto bind_executor(const Executor& executor, Handler&& handler) {
    return boost::asio::bind_executor(executor, std::forward<Handler>(handler));
  }
  template <class Executor, class F>
  static void dispatch(const Executor& executor, F f) {
    boost::asio::dispatch(executor, std::move(f));
  }
  template <class Executor, class F>
  static void post(const Executor& executor, F f) {
    boost::asio::post(executor, std::move(f));
  }
  template <class Handler>
  static auto make_work_guard(const Handler& handler) {
    return boost::asio::make_work_guard(handler);
  }
};

/// asio_thread for Boost.Asio. A program uses one Asio, either this or the stand-alone one, because both define the
/// same names outside of their namespaces.
using boost_asio_thread = asio_runner<boost_asio_library>;

/// asio_on_loop for Boost.Asio.
using boost_asio_on_loop = asio_guest<boost_asio_library>;

/// async_run for Boost.Asio.
///
/// Cancel: same as async_run; Boost 1.76 and older have no slots, so nothing is cancelled.
template <class T, class Token>
auto boost_async_run(event_loop& loop, task<T> work, Token&& token,
                     std::source_location where = std::source_location::current()) {
  return boost::asio::async_initiate<Token, typename asio_reply_signature<T>::type>(
      asio_task_initiation<boost_asio_library, T>{&loop, where}, token, std::move(work));
}
template <class F, class Token>
  requires task_function<F>
auto boost_async_run(event_loop& loop, F f, Token&& token,
                     std::source_location where = std::source_location::current()) {
  return boost_async_run(loop, call_in_frame(std::move(f)), std::forward<Token>(token), where);
}

}  // namespace gyre

template <class R, class... Results>
class boost::asio::async_result<gyre::use_gyre_t, R(Results...)>
    : public gyre::asio_awaitable<gyre::boost_asio_library, Results...> {};
template <class Executor, class R, class... Results>
class boost::asio::async_result<gyre::use_gyre_on_t<Executor>, R(Results...)>
    : public gyre::asio_awaitable<gyre::boost_asio_library, Results...> {};
template <class Token, class Executor, class R, class... Results>
  requires gyre::ends_in_use_gyre<Token>
class boost::asio::async_result<boost::asio::executor_binder<Token, Executor>, R(Results...)>
    : public gyre::asio_bound_result<gyre::boost_asio_library, boost::asio::async_result<Token, R(Results...)>,
                                     Executor> {};
