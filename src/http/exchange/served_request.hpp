// src/http/exchange/served_request.hpp: the part of a request that only the server sees.
#pragma once

#include <gyre/http/framing.hpp>
#include <gyre/http/head_parser.hpp>
#include <gyre/http/request.hpp>
#include <gyre/tasks/join_op.hpp>

#include <source_location>
#include <string_view>

namespace gyre::http {

struct server_state;

/// Every request is one.
class served_request final : public request {
 public:
  served_request() noexcept = default;
  static served_request& of(request& r) noexcept { return static_cast<served_request&>(r); }
  static const served_request& of(const request& r) noexcept { return static_cast<const served_request&>(r); }

  /// Becomes the request with this head, which `input` still holds. Nothing of the previous request remains. Errors:
  /// std::bad_alloc, when several Upgrade fields have to be joined.
  void begin(server_state& server, const address& peer, const head_parser& head, const framing& framed,
             body_source& body, exchange_link& link);

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

  /// The server that answers the request.
  [[nodiscard]] server_state& server() const noexcept { return *server_; }
  /// The line of the program that made the handler, and the pattern of its route.
  [[nodiscard]] const std::source_location& handled_at() const noexcept { return now_.handled_at; }
  [[nodiscard]] std::string_view route() const noexcept { return now_.route; }

 private:
  server_state* server_ = nullptr;
};

}  // namespace gyre::http
