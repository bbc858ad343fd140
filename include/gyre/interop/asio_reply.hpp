// gyre/interop/asio_reply.hpp: passes the outcome of a gyre task to a completion handler of Asio. For asio.hpp.
#pragma once

#include <gyre/interop/asio_outcome.hpp>
#include <gyre/tasks/run_coroutine_threadsafe.hpp>

#include <concepts>
#include <exception>
#include <optional>
#include <source_location>
#include <type_traits>
#include <utility>

namespace gyre {

/// The signature of a handler for the outcome of a task<T>.
template <class T>
struct asio_reply_signature {
  static_assert(std::default_initializable<T>, "the handler is given a value also when the task has failed");
  using type = void(std::exception_ptr, T);
};
template <>
struct asio_reply_signature<void> {
  using type = void(std::exception_ptr);
};

/// Calls a handler once: with the outcome, or with operation_aborted when it is destroyed before. Until then it keeps
/// the handler's io_context busy.
template <class Library, class T, class Handler>
class asio_reply {
  using guard = decltype(Library::make_work_guard(std::declval<const Handler&>()));

 public:
  asio_reply(Handler handler, std::source_location where)
      : where_(where), work_(Library::make_work_guard(handler)), handler_(std::in_place, std::move(handler)) {}
  asio_reply(asio_reply&& other) noexcept
      : where_(other.where_), work_(std::move(other.work_)), handler_(std::exchange(other.handler_, std::nullopt)) {}
  asio_reply& operator=(asio_reply&&) = delete;
  ~asio_reply() {
    if (handler_) give(Library::aborted(), {});
  }

  /// Called once. If the handler is called directly and throws, that is reported as a failure in the background.
  void give(std::exception_ptr failure, std::optional<wrap_void<T>> value) noexcept {
    try {
      const auto executor = work_.get_executor();
      const guard until_posted(work_);  // otherwise the context may be destroyed during the call
      call it{std::move(*handler_), std::move(work_), std::move(failure), std::move(value)};
      handler_.reset();
      if constexpr (is_default_executor<Library, typename guard::executor_type>)
        it();
      else
        Library::post(executor, std::move(it));
    } catch (...) {
      event_loop::report({std::current_exception(), "async_run", where_});
    }
  }

 private:
  struct call {
    Handler handler;
    guard work;
    std::exception_ptr failure;
    std::optional<wrap_void<T>> value;

    void operator()() {
      Library::clear_slot(handler);
      work.reset();
      if constexpr (std::is_void_v<T>)
        std::move(handler)(std::move(failure));
      else
        std::move(handler)(std::move(failure), value ? std::move(*value) : T());
    }
  };

  std::source_location where_;
  guard work_;
  std::optional<Handler> handler_;
};

/// Starts the task when the completion token of async_run asks for it.
template <class Library, class T>
struct asio_task_initiation {
  event_loop* loop;
  std::source_location where;

  template <class Handler>
  void operator()(Handler&& handler, task<T> work) const {
    using reply = asio_reply<Library, T, std::decay_t<Handler>>;
    auto* const outcome = new shared_outcome<void>(*loop);
    const shared_task_handle<void> kept(*outcome);
    outcome->add_reference();
    Library::assign_slot(handler, [handle = shared_task_handle<void>(*outcome)]() mutable { handle.cancel(); });
    outcome->start(run(reply(std::forward<Handler>(handler), where), std::move(work)), where);
  }

 private:
  template <class Reply>
  static task<void> run(Reply reply, task<T> work) {
    std::optional<wrap_void<T>> value;
    std::exception_ptr failure;
    try {
      if constexpr (std::is_void_v<T>) {
        co_await std::move(work);
      } else {
        value.emplace(co_await std::move(work));
      }
    } catch (const cancelled&) {
      throw;  // the destructor of the reply reports it
    } catch (...) {
      failure = std::current_exception();  // reported below
    }
    reply.give(std::move(failure), std::move(value));
  }
};

}  // namespace gyre
