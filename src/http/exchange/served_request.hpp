// src/http/exchange/served_request.hpp: the part of a request that only the server sees.
#pragma once

#include <gyre/http/request.hpp>
#include <gyre/http/target.hpp>
#include <gyre/tasks/join_op.hpp>

#include <new>
#include <source_location>
#include <span>
#include <string_view>

#include "application.hpp"

namespace gyre::http {

/// The head of a request, and what it arrives by. A protocol makes it of its own parts.
struct request_head {
  std::string_view method;
  std::string_view target;
  std::string_view host;          // as the fields say; an authority in the target takes precedence
  std::string_view upgrade = {};  // the protocols that the client would rather speak on this connection
  bool several_upgrades = false;  // several fields of that name have to be joined
  std::span<const field> fields;
  http::version version;
  const address& peer;
  body_source& body;
  exchange_link& link;
};

/// Every request is one.
class served_request final : public request {
 public:
  served_request() noexcept = default;
  static served_request& of(request& r) noexcept { return static_cast<served_request&>(r); }
  static const served_request& of(const request& r) noexcept { return static_cast<const served_request&>(r); }

  /// Becomes the request with this head, whose text outlives the exchange. Nothing of the previous request remains.
  /// Errors: std::bad_alloc, when several Upgrade fields have to be joined.
  [[gnu::always_inline]] void begin(application& server, const request_head& head) {
    owner_.check("serving");  // from here on it belongs to this loop
    app_ = &server;
    // In place: assigning a temporary would copy all of it once more.
    ::new (&now_) contents{.method = head.method,
                           .target = head.target,
                           .parts = split_target(head.target),
                           .host = head.host,
                           .upgrade = head.upgrade,
                           .fields = head.fields,
                           .version = head.version,
                           .peer = &head.peer,
                           .link = &head.link,
                           .handled_at = server.options.routes.made_at()};
    if (!now_.parts.authority.empty()) now_.host = now_.parts.authority;
    clear_lists();
    body_.start(head.body, server.options.limits.body);
    if (head.several_upgrades) [[unlikely]]
      join_upgrades();
  }

  /// Notes where a router has led the request to.
  void found_handler(const std::source_location& made_at) noexcept { now_.handled_at = made_at; }
  void found_route(std::string_view pattern, std::string_view rest) noexcept {
    now_.route = pattern;
    now_.rest = rest;
  }
  /// Errors: status_error with 400 when the encoding is malformed.
  void add_path_value(std::string_view name, std::string_view encoded);

  [[nodiscard]] bool has_adopted() const noexcept { return !adopted_.empty(); }
  /// Cancels a task that the request has adopted, and waits for its end. The task is then given up. An operation,
  /// because a task that is awaited in a cancelled scope does not begin. Cancel: waits on. Errors: none.
  [[nodiscard]] uninterrupted_join_op end_adopted() noexcept;
  void give_up_adopted() noexcept;

  /// Answers the request.
  [[nodiscard]] application& app() const noexcept { return *app_; }
  /// The line of the program that made the handler.
  [[nodiscard]] const std::source_location& handled_at() const noexcept { return now_.handled_at; }

 private:
  [[gnu::always_inline]] void clear_lists() noexcept {
    lists_.path_values.clear();
    lists_.decoded.clear();
    lists_.query_fields.clear();
    lists_.attributes.clear();
    lists_.upgrades.clear();
  }
  void join_upgrades();

  application* app_ = nullptr;
};

}  // namespace gyre::http
