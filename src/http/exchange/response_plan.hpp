// src/http/exchange/response_plan.hpp: decides whether a body follows the head of a response, and how long it is.
#pragma once

#include <gyre/http/status.hpp>

#include "response_state.hpp"

#include <cstdint>
#include <optional>

namespace gyre::http {

/// The same for every protocol, which only frames it: RFC 9110 §6.4.1, §8.6.
struct response_plan {
  std::optional<std::uint64_t> length = {};  // to be announced, also without a body: the answer to HEAD
  bool is_open = false;                      // the head announces a body of unknown length
  bool has_body = false;                     // bytes follow the head

  /// `head_only` for the answer to HEAD, `connect` for one to CONNECT.
  response_plan(const response_state& r, bool head_only, bool connect) noexcept {
    constexpr int reset_content = 205;  // has an empty body by definition: RFC 9110 §15.3.6
    const bool opens_tunnel = connect && r.status >= 200 && r.status < 300;
    if (is_bodyless(r.status) || opens_tunnel) return;
    if (r.status == reset_content) {
      length = 0;
      return;
    }
    has_body = !head_only && r.source != body_origin::none;
    switch (r.source) {
      case body_origin::none:
        length = 0;
        break;
      case body_origin::value:
      case body_origin::borrowed:
        length = r.bytes().size();
        break;
      case body_origin::file:
        length = r.length;
        break;
      case body_origin::producer:
        length = r.length;
        is_open = !length;
        break;
      case body_origin::protocol:
        break;
    }
  }
};

}  // namespace gyre::http
