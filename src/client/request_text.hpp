// src/client/request_text.hpp: what a request says, as bytes.
#pragma once

#include <gyre/client/url.hpp>
#include <gyre/http/field.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "url_reader.hpp"

namespace gyre::http {

/// The fields that a client adds to requests that have none of their own. The text was checked.
struct client_fields {
  client_fields(std::string_view agent, std::string_view accepted, std::string_view known_codings);

  std::string user_agent;  // a line each, or empty
  std::string accept;
  std::string codings;
  std::string all;
};

/// Kept by the client and used again, so that its strings keep their memory.
struct request_text {
  std::string method;
  http::url url = url_reader::blank();
  std::string target;  // sent in place of that of the URL; empty for none
  std::string fields;  // "Name: value\r\n" of the program
  std::string body;
  std::string upgrade;  // the protocols that the program would rather speak; empty for none

  // The program has set a field with this name.
  bool has_host = false;
  bool has_user_agent = false;
  bool has_accept = false;
  bool has_accept_encoding = false;
  bool has_range = false;
  bool has_cookie = false;
  bool has_authorization = false;
  bool has_content_type = false;
  bool has_idempotency_key = false;
  bool takes_trailers = false;
  bool closes = false;
  bool has_body = false;  // perhaps an empty one

  void clear() noexcept;
  /// Errors: std::invalid_argument.
  void set_method(std::string_view name);
  void set_target(std::string_view text);
  void add_field(std::string_view name, std::string_view value);
  void remove_field(std::string_view name);
  [[nodiscard]] bool has_field(std::string_view name) const;
  void set_content_type(std::string_view media_type);
  void drop_body();
  /// For another origin.
  void drop_credentials();
  void authorize(std::string_view scheme, std::string_view credentials);
  void authorize_basic(std::string_view user, std::string_view password);

  /// Without the fragment, and with the target that is sent.
  [[nodiscard]] std::string whole_url() const;

  /// RFC 9110 §9.2.2, and fields by which a program says so.
  [[nodiscard]] bool is_idempotent() const noexcept;

  struct framing {
    std::optional<std::uint64_t> length;  // nothing: chunked
    const http::url* proxy = nullptr;     // that reads the request
    bool asks_for_codings = false;
    std::string_view cookies = {};  // empty for none
    bool expects_continue = false;
  };
  /// Writes the head.
  void write_head(std::string& out, const client_fields& usual, const framing& framed) const;
};

}  // namespace gyre::http
