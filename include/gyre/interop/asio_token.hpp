// gyre/interop/asio_token.hpp: use_gyre, a completion token for either Asio. Include asio.hpp or boost_asio.hpp.
#pragma once

#include <type_traits>
#include <utility>

namespace gyre {

/// The type of `use_gyre`, which can be the default token of I/O objects:
///
///   gyre::use_gyre_t::as_default_on_t<tcp::socket> socket(context);
///   std::size_t n = co_await socket.async_read_some(asio::buffer(bytes));
struct use_gyre_t {
  /// An executor for objects whose operations are awaitable when they are given no token.
  template <class Executor>
  struct executor_with_default : Executor {
    using default_completion_token_type = use_gyre_t;
    executor_with_default(const Executor& inner) noexcept : Executor(inner) {}
    template <class Other>
      requires(!std::is_same_v<Other, Executor> && !std::is_same_v<Other, executor_with_default> &&
               std::is_convertible_v<const Other&, Executor>)
    executor_with_default(const Other& other) : Executor(other) {}
  };
  /// The type of such an object: T, such as a socket or a timer, with this executor.
  template <class T>
  using as_default_on_t = typename T::template rebind_executor<executor_with_default<typename T::executor_type>>::other;
  /// Converts an existing object. Objects that it accepts have the default, too.
  template <class T>
  [[nodiscard]] static as_default_on_t<T> as_default_on(T object) {
    return as_default_on_t<T>(std::move(object));
  }
};

/// The completion token that makes any asynchronous operation of Asio an awaitable of gyre:
///
///   std::size_t n = co_await socket.async_read_some(asio::buffer(bytes), gyre::use_gyre);
///
/// The operation begins when it is awaited, and the task resumes on its own loop, wherever the handler is called. The
/// operation is begun and cancelled on the executor of the I/O object, or on the one that bind_executor(executor,
/// use_gyre) names. So tasks may use an object that belongs to an io_context of another thread, as long as nothing else
/// uses the object meanwhile.
/// Lifetime: buffers, the I/O object and its io_context stay valid until the await returns. The program is stopped when
/// the context ends before.
/// Cancel: emits cancellation_type::all to the slot of the operation. The await returns when the handler has been
/// called: with its result, which wins, or with `cancelled`. Bytes that a composed operation (async_read) had moved by
/// then are lost with their count. An operation whose executor is unknown (use_gyre_on names it) is not notified. One
/// that ignores its slot (async_resolve) runs to its end.
/// Errors: io_error, "async_receive: Connection reset by peer"; end of stream is an error too, asio::error::eof;
/// incomplete_transfer when bytes had been moved before; callback_dropped when the handler was destroyed uncalled.
/// Thread: any loop. If several threads run one io_context, each I/O object needs a strand, as usual: its own executor,
/// or one that is bound for each operation.
inline constexpr use_gyre_t use_gyre{};

/// use_gyre with the executor on which the operation is begun, continued and cancelled.
template <class Executor>
struct use_gyre_on_t {
  Executor executor;
};

/// bind_executor(executor, use_gyre), for any version of Asio. Needed by operations that do not expose their executor
/// (async_initiate with a lambda): `use_gyre_on(socket.get_executor())`. The completion handler is associated with the
/// executor. A default executor (system_executor) is ignored, because it serializes nothing.
///
/// Lifetime: the executor's context stays valid until the await returns. If it ends before, the await throws
/// callback_dropped, unless the operation is one of an I/O object.
/// Cancel: same as use_gyre.
template <class Executor>
[[nodiscard]] use_gyre_on_t<Executor> use_gyre_on(Executor executor) {
  return {std::move(executor)};
}

}  // namespace gyre
