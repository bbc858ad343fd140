// gyre/http/authentication.hpp: Basic and Bearer authentication. RFC 7617, RFC 6750, RFC 9110 §11.
#pragma once

#include <gyre/attributes.hpp>
#include <gyre/coro/task.hpp>
#include <gyre/http/middleware.hpp>
#include <gyre/http/request.hpp>
#include <gyre/http/response.hpp>

#include <concepts>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace gyre::http {

/// Compares two secrets. The time it takes does not reveal where they differ. It may reveal their lengths: if these are
/// secret too, compare hashes.
[[nodiscard]] GYRE_API bool equal_secrets(std::string_view a, std::string_view b) noexcept;

struct basic_credentials {
  std::string user;
  std::string password;
};
/// Parses an Authorization field. Nothing for another scheme, for a malformed value, or for one with control
/// characters.
[[nodiscard]] GYRE_API std::optional<basic_credentials> parse_basic_credentials(std::string_view authorization);

/// The verdict of a check. True, or the name of the user, means that the credentials are good.
template <class T>
concept authentication_verdict = std::same_as<T, bool> || std::same_as<T, std::optional<std::string>>;
template <class T>
concept authentication_result =
    authentication_verdict<T> || std::same_as<T, task<bool>> || std::same_as<T, task<std::optional<std::string>>>;

// Calls a check, synchronous or asynchronous.
template <class F, class... Credentials>
auto ask_check(F& check, const Credentials&... credentials) -> task<std::optional<std::string>> {
  const auto named = [](auto&& verdict) -> std::optional<std::string> {
    if constexpr (std::same_as<std::remove_cvref_t<decltype(verdict)>, bool>)
      return verdict ? std::optional<std::string>(std::in_place) : std::nullopt;
    else
      return std::move(verdict);
  };
  if constexpr (authentication_verdict<std::invoke_result_t<F&, const Credentials&...>>) {
    co_return named(check(credentials...));
  } else {
    auto verdict = co_await check(credentials...);
    co_return named(std::move(verdict));
  }
}

/// Makes the response that refuses a request. For authors of schemes.
class GYRE_API challenge {
 public:
  /// `Basic realm="the realm", charset="UTF-8"`. Errors: std::invalid_argument for a realm with control characters.
  static challenge basic(std::string_view realm);
  static challenge bearer(std::string_view realm);

  /// 401 with WWW-Authenticate. `error`, such as "invalid_token", is added there; "invalid_request" makes it 400.
  /// Errors: std::invalid_argument for an error with control characters.
  [[nodiscard]] response refuse(std::string_view error = {}) const;

 private:
  explicit challenge(std::string text) noexcept : text_(std::move(text)) {}
  std::string text_;
};

enum class bearer_state : unsigned char { absent, malformed, present };
struct bearer_credentials {
  bearer_state state = bearer_state::absent;
  std::string_view token;
};
/// The token of a request. Malformed: not the syntax of RFC 6750 §2.1, or several Authorization fields. Lifetime: the
/// request's.
[[nodiscard]] GYRE_API bearer_credentials find_bearer_token(const request& r) noexcept;
/// The credentials of a request that has exactly one Authorization field.
[[nodiscard]] GYRE_API std::optional<basic_credentials> find_basic_credentials(const request& r);

template <class F>
concept password_check = requires(F& f, const std::string& text) {
  { f(text, text) } -> authentication_result;
};
template <class F>
concept token_check = requires(F& f, std::string_view token) {
  { f(token) } -> authentication_result;
};

/// Passes on requests whose name and password `check(user, password)` accepts; others get 401. Handlers find the name
/// in the attribute "user". Passwords are sent in the clear: use it over TLS only.
///
///   routes.use(http::basic_authentication("staff", [&](std::string_view user, std::string_view password) {
///     return user == "admin" && http::equal_secrets(password, secret);
///   }));
///
/// `check` returns a bool, or a task of one. Lifetime: it lives as long as the middleware; its arguments live until it
/// has returned. Errors: std::invalid_argument same as challenge. Per request: whatever `check` throws.
template <password_check F>
[[nodiscard]] middleware basic_authentication(std::string_view realm, F check) {
  struct authenticator {
    challenge refusal;
    F check;
    task<response> operator()(request& r, next_handler next) {
      const auto who = find_basic_credentials(r);
      if (!who) co_return refusal.refuse();
      const auto name = co_await ask_check(check, who->user, who->password);
      if (!name) co_return refusal.refuse();
      r.set_attribute("user", name->empty() ? who->user : *name);
      co_return co_await next(r);
    }
  };
  return authenticator{challenge::basic(realm), std::move(check)};
}

/// The same with `check(token)`. It returns a bool or the name of the user (std::optional<std::string>), or a task of
/// one of these. A request without a token gets 401, a malformed token 400, and a rejected token 401 with
/// "invalid_token".
///
/// Lifetime, Errors: as above.
template <token_check F>
[[nodiscard]] middleware bearer_authentication(std::string_view realm, F check) {
  struct authenticator {
    challenge refusal;
    F check;
    task<response> operator()(request& r, next_handler next) {
      const bearer_credentials credentials = find_bearer_token(r);
      if (credentials.state == bearer_state::absent) co_return refusal.refuse();
      if (credentials.state == bearer_state::malformed) co_return refusal.refuse("invalid_request");
      const auto name = co_await ask_check(check, credentials.token);
      if (!name) co_return refusal.refuse("invalid_token");
      if (!name->empty()) r.set_attribute("user", *name);
      co_return co_await next(r);
    }
  };
  return authenticator{challenge::bearer(realm), std::move(check)};
}

}  // namespace gyre::http
