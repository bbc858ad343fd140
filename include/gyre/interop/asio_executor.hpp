// gyre/interop/asio_executor.hpp: the executor of an operation of either Asio. For asio_operation.hpp.
//
// A composed operation (async_read) calls its intermediate handlers through the executor that is associated with its
// completion handler, or else through the executor of its I/O object. Everything else that uses the object must run on
// that same executor: the beginning, and the emission of a cancel.
#pragma once

#include <gyre/interop/asio_outcome.hpp>
#include <gyre/interop/asio_token.hpp>

#include <type_traits>
#include <utility>

namespace gyre {

/// True for a token that ends in use_gyre: use_gyre, use_gyre_on, or an adapter of one (bind_executor, as_tuple, ...).
/// The adapters of Asio have the adapted token as their first template parameter.
template <class Token>
inline constexpr bool ends_in_use_gyre = false;
template <>
inline constexpr bool ends_in_use_gyre<use_gyre_t> = true;
template <class Executor>
inline constexpr bool ends_in_use_gyre<use_gyre_on_t<Executor>> = true;
template <template <class...> class Adapter, class Token, class... Others>
inline constexpr bool ends_in_use_gyre<Adapter<Token, Others...>> = ends_in_use_gyre<std::remove_cv_t<Token>>;

/// The part of an initiating function that binds an executor to the handler. Of several, this is the one that Asio
/// associates with the handler: the outermost bind_executor, whose wrapper is the innermost. nothing_stored when no
/// executor is bound.
template <class Initiation>
[[nodiscard]] constexpr const auto& initiation_with_bound_executor(const Initiation& initiation) noexcept {
  if constexpr (requires { requires Initiation::binds; }) {
    return initiation;
  } else if constexpr (requires { initiation.initiation_; }) {
    return initiation_with_bound_executor(initiation.initiation_);
  } else {
    static constexpr nothing_stored nobody{};
    return nobody;
  }
}
template <class Initiation>
inline constexpr bool has_bound_executor =
    !std::is_same_v<decltype(initiation_with_bound_executor(std::declval<const Initiation&>())), const nothing_stored&>;

/// An initiating function whose completion handler gets an associated executor, unless that is a default executor or
/// another one is bound further out.
///
/// Asio's own wrapper for bind_executor keeps the executor where only the associations of the handler show it. This one
/// states it.
template <class Library, class Executor, class Initiation>
struct asio_bound_initiation {
  using executor_type = Executor;
  static constexpr bool binds = !is_default_executor<Library, Executor> && !has_bound_executor<Initiation>;

  [[nodiscard]] executor_type get_executor() const noexcept { return executor_; }

  template <class Handler, class... Args>
  void operator()(Handler&& handler, Args&&... args) && {
    if constexpr (binds)
      std::move(initiation_)(Library::bind_executor(executor_, std::forward<Handler>(handler)),
                             std::forward<Args>(args)...);
    else
      std::move(initiation_)(std::forward<Handler>(handler), std::forward<Args>(args)...);
  }
  template <class Handler, class... Args>
  void operator()(Handler&& handler, Args&&... args) const& {
    if constexpr (binds)
      initiation_(Library::bind_executor(executor_, std::forward<Handler>(handler)), std::forward<Args>(args)...);
    else
      initiation_(std::forward<Handler>(handler), std::forward<Args>(args)...);
  }

  // Named as in the wrappers of Asio's adapters.
  Executor executor_;
  Initiation initiation_;
};

/// The I/O object's part of an initiating function, which knows the executor of the object: the function without the
/// adapters that wrap it. An adapter (as_tuple, ...) of an older Asio (1.30, say) does not expose the executor itself.
/// nothing_stored means that nobody knows the executor.
template <class Library, class Initiation>
[[nodiscard]] constexpr const auto& initiation_of_object(const Initiation& initiation) noexcept {
  constexpr bool is_of_bind = requires { Initiation::binds; };
  if constexpr (!is_of_bind &&
                requires { requires !is_default_executor<Library, typename Initiation::executor_type>; }) {
    return initiation;
  } else if constexpr (requires { initiation.initiation_; }) {
    return initiation_of_object<Library>(initiation.initiation_);
  } else {
    static constexpr nothing_stored nobody{};
    return nobody;
  }
}

/// The part of an initiating function that knows the executor on which the operation is begun, continued and cancelled:
/// the executor that is bound to the handler, or else that of the I/O object. nothing_stored when nobody knows one.
template <class Library, class Initiation>
[[nodiscard]] constexpr const auto& initiation_with_executor(const Initiation& initiation) noexcept {
  if constexpr (has_bound_executor<Initiation>)
    return initiation_with_bound_executor(initiation);
  else
    return initiation_of_object<Library>(initiation);
}

/// Base of async_result of either Asio for bind_executor(executor, token), where `Result` is the async_result of a
/// token that ends in use_gyre.
template <class Library, class Result, class Executor>
struct asio_bound_result {
  template <class Initiation, class Token, class... Args>
  static auto initiate(Initiation&& initiation, Token&& token, Args&&... args) {
    asio_bound_initiation<Library, Executor, std::decay_t<Initiation>> bound{token.get_executor(),
                                                                             std::forward<Initiation>(initiation)};
    return Result::initiate(std::move(bound), std::forward<Token>(token).get(), std::forward<Args>(args)...);
  }
};

}  // namespace gyre
