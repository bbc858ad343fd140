// gyre/client/connector.hpp: opens the connections of a client in a way of the program's own.
#pragma once

#include <gyre/attributes.hpp>
#include <gyre/client/url.hpp>
#include <gyre/coro/misuse.hpp>
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
  connector(const connector& other) noexcept : shared_(other.shared_) {
    if (shared_ != nullptr) __atomic_fetch_add(&shared_->references, 1, __ATOMIC_RELAXED);
  }
  connector(connector&& other) noexcept : shared_(std::exchange(other.shared_, nullptr)) {}
  connector& operator=(connector other) noexcept {
    std::swap(shared_, other.shared_);
    return *this;
  }
  ~connector() {
    if (shared_ != nullptr && __atomic_fetch_sub(&shared_->references, 1, __ATOMIC_ACQ_REL) == 1) delete shared_;
  }

  /// Connects. Lifetime: `to` outlives the await. Cancel, errors: as the callable.
  [[nodiscard]] GYRE_CORO_WRAPPER task<any_stream> operator()(const url& to) const {
    if (shared_ == nullptr) misuse("an empty http::connector was called");
    return shared_->connect(to);
  }
  [[nodiscard]] bool secure() const noexcept { return shared_ != nullptr && shared_->secure; }
  [[nodiscard]] explicit operator bool() const noexcept { return shared_ != nullptr; }

 private:
  struct interface {
    interface() noexcept = default;
    interface& operator=(interface&&) = delete;
    virtual ~interface() = default;
    virtual task<any_stream> connect(const url& to) = 0;
    int references = 1;
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

  interface* shared_ = nullptr;
};

}  // namespace gyre::http
