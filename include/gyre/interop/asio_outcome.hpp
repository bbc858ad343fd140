// gyre/interop/asio_outcome.hpp: the arguments of a call to a completion handler of Asio. For authors of operations.
#pragma once

#include <gyre/tasks/from_callback.hpp>

#include <cstddef>
#include <exception>
#include <expected>
#include <optional>
#include <system_error>
#include <tuple>
#include <type_traits>
#include <utility>

namespace gyre {

struct nothing_stored {};

/// True for the executor when nobody has chosen one: the one associated with a plain function object, in old and new
/// versions.
template <class Library, class Executor>
inline constexpr bool is_default_executor = std::is_same_v<Executor, typename Library::system_executor> ||
                                            std::is_same_v<Executor, typename Library::executor_of_plain_function>;

/// Base of the adapters: the exception of an operation that was aborted.
template <class SystemError, auto OperationAborted>
struct asio_aborting {
  static bool is_aborted(const std::exception_ptr& failure) noexcept {
    try {
      std::rethrow_exception(failure);
    } catch (const SystemError& error) {
      return error.code() == OperationAborted;
    } catch (...) {  // only examined here; the caller throws it
      return false;
    }
  }
  static std::exception_ptr aborted() { return std::make_exception_ptr(SystemError(OperationAborted)); }
};

/// The result type of an await, from the values after the error. No value is void, a single value is itself, and
/// several are a std::tuple, because they have no names.
template <class... Values>
struct asio_value {
  using type = std::tuple<Values...>;
};
template <class Value>
struct asio_value<Value> {
  using type = Value;
};
template <>
struct asio_value<> {
  using type = void;
};

/// The values after an error of type `Error`. nothing_stored means that there is no error.
template <class Library, class Error, class... Values>
class asio_outcome_of {
 public:
  using value_type = typename asio_value<Values...>::type;

  void drop() noexcept { dropped_ = true; }
  void store(Error&& error, Values&&... values) noexcept {
    error_ = std::move(error);
    try {
      values_.emplace(std::move(values)...);
    } catch (...) {
      failure_ = std::current_exception();  // thrown from the await
    }
  }

  /// Whether a cancel may have caused this outcome.
  [[nodiscard]] bool failed() const noexcept {
    if constexpr (is_code)
      return dropped_ || error_;
    else if constexpr (is_exception)
      return dropped_ || (error_ && Library::is_aborted(error_));
    else
      return dropped_;
  }
  /// The number of bytes moved before the error.
  [[nodiscard]] std::size_t transferred() const noexcept {
    if constexpr (is_code && std::is_same_v<value_type, std::size_t>)
      return values_ ? std::get<0>(*values_) : 0;
    else
      return 0;
  }

  std::expected<value_type, std::error_code> take() {
    if (failure_) std::rethrow_exception(failure_);
    if (dropped_) throw callback_dropped();
    if constexpr (is_code)
      if (error_) return std::unexpected(std::error_code(error_));
    if constexpr (is_exception)
      if (error_) std::rethrow_exception(error_);
    if constexpr (sizeof...(Values) == 0)
      return {};
    else if constexpr (sizeof...(Values) == 1)
      return std::get<0>(*std::move(values_));
    else
      return *std::move(values_);
  }

 private:
  static constexpr bool is_code = std::is_same_v<Error, typename Library::error_code>;
  static constexpr bool is_exception = std::is_same_v<Error, std::exception_ptr>;

  Error error_{};
  std::optional<std::tuple<Values...>> values_;
  std::exception_ptr failure_;
  bool dropped_ = false;
};

/// The outcome of a handler with the signature void(Results...).
template <class Library, class... Results>
class asio_outcome : public asio_outcome_of<Library, nothing_stored, Results...> {
 public:
  void store(Results&&... values) noexcept {
    asio_outcome_of<Library, nothing_stored, Results...>::store({}, std::move(values)...);
  }
};
template <class Library, class First, class... Rest>
  requires std::is_same_v<First, typename Library::error_code> || std::is_same_v<First, std::exception_ptr>
class asio_outcome<Library, First, Rest...> : public asio_outcome_of<Library, First, Rest...> {};

}  // namespace gyre
