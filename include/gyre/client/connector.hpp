// gyre/client/connector.hpp: opens the connections of a client in a way of the program's own.
#pragma once

#include <gyre/attributes.hpp>
#include <gyre/client/url.hpp>
#include <gyre/coro/misuse.hpp>
#include <gyre/coro/shared.hpp>
#include <gyre/coro/task.hpp>
#include <gyre/stream/any_stream.hpp>

#include <concepts>
#include <type_traits>
#include <utility>

namespace gyre::http {

/// `f(to)` returns a task of a connected byte stream, or of an any_stream.
template <class F>
concept connecting_function = requires(F& f, const url& to) {
  requires abortable_stream<await_result<decltype(f(to))>> || std::same_as<await_result<decltype(f(to))>, any_stream>;
};

/// A callable that connects to the origin of a URL: to a server in memory, or through a tunnel. For https the client
/// does the handshake on the stream, unless the callable's type has a constant `secure` that is true: then the stream
/// protects itself. Time limits end operations of the stream by abort().
///
///   options.connector = [](const http::url& to) { return tcp_stream::connect("127.0.0.1:8080"); };
///
/// Copies share the callable. Thread: the callable is called on the loop of each client that has it.
/// Cancel: the callable is cancelled with the request, and after client_timeouts::connect.
class connector {
 public:
  connector() noexcept = default;
  template <connecting_function F>
    requires(!std::same_as<std::remove_cvref_t<F>, connector>)
  connector(F f) : shared_(new model<F>(std::move(f))) {}  // NOLINT(google-explicit-constructor): options.connector = f

  /// Connects. Lifetime: `to` outlives the await. Cancel, errors: as the callable.
  [[nodiscard]] GYRE_CORO_WRAPPER task<any_stream> operator()(const url& to) const {
    if (!shared_) misuse("an empty http::connector was called");
    return shared_->connect(to);
  }
  [[nodiscard]] bool secure() const noexcept { return shared_ && shared_->secure; }
  [[nodiscard]] explicit operator bool() const noexcept { return static_cast<bool>(shared_); }

 private:
  struct interface : shared_target {
    virtual task<any_stream> connect(const url& to) = 0;
    bool secure = false;
  };
  template <class F>
  struct model final : interface {
    explicit model(F&& f) : function(std::move(f)) {
      if constexpr (requires { F::secure; }) secure = F::secure;
    }
    task<any_stream> connect(const url& to) override {
      auto connecting = function(to);
      co_return any_stream(co_await std::move(connecting));
    }
    F function;
  };

  shared<interface> shared_;
};

}  // namespace gyre::http
