// src/http/server/spoken_connection.hpp: a connection in the protocol that its client has chosen.
#pragma once

#include <gyre/coro/task.hpp>
#include <gyre/io/buffer_lease.hpp>
#include <gyre/net/address.hpp>
#include <gyre/net/secure_session.hpp>

#include "http1_connection/connection.hpp"
#include "server_state.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <variant>

namespace gyre::http {

/// The protocols of a server. Each has the functions of `connection`, and is made of its resources in server_state. A
/// further protocol is an entry here, in `protocol_names`, and in the constructor of spoken_connection.
using spoken_protocols = std::variant<connection>;
/// The names of these protocols in ALPN, RFC 7301.
inline constexpr std::array<std::string_view, std::variant_size_v<spoken_protocols>> protocol_names = {"http/1.1"};

/// The index of a protocol. Nothing else looks at the name that client and server have agreed upon. `security` is null
/// for a connection without encryption. A client that has named no known protocol speaks the first one.
[[nodiscard]] inline std::uint8_t chosen_protocol(const secure_session* security) noexcept {
  const std::string_view name = security == nullptr ? std::string_view() : security->protocol();
  for (std::size_t i = 1; i < protocol_names.size(); ++i)
    if (name == protocol_names[i]) return static_cast<std::uint8_t>(i);
  return 0;
}

/// A connection while it is not idle. See `connection` for its functions.
class spoken_connection {
 public:
  /// `protocol` comes from chosen_protocol().
  spoken_connection([[maybe_unused]] std::uint8_t protocol, server_state& server, transport& carrier,
                    const address& peer, std::uint64_t requests = 0) noexcept
      : speaks_(std::in_place_index<0>, server.http1, carrier, peer, requests) {}
  spoken_connection& operator=(spoken_connection&&) = delete;

  [[nodiscard]] bool serve_at_once(buffer_lease& received) {
    return call<bool>(*this, [&](auto& each) { return each.serve_at_once(received); });
  }
  [[nodiscard]] bool serve_at_once(std::string_view received) {
    return call<bool>(*this, [&](auto& each) { return each.serve_at_once(received); });
  }
  GYRE_CORO_WRAPPER task<> serve_rest(bool& goes_on) {
    return call<task<>>(*this, [&] GYRE_CORO_WRAPPER(auto& each) { return each.serve_rest(goes_on); });
  }
  GYRE_CORO_WRAPPER task<> refuse_service() {
    return call<task<>>(*this, [] GYRE_CORO_WRAPPER(auto& each) { return each.refuse_service(); });
  }
  [[nodiscard]] std::uint64_t requests() const noexcept {
    return call<std::uint64_t>(*this, [](const auto& each) { return each.requests(); });
  }

 private:
  // std::visit is no wrapper of coroutines.
  template <class Result, std::size_t I = 0>
  GYRE_CORO_WRAPPER static Result call(auto& self, auto function) {
    if constexpr (I + 1 < std::variant_size_v<spoken_protocols>)
      if (self.speaks_.index() != I) return call<Result, I + 1>(self, function);
    auto* const speaking = std::get_if<I>(&self.speaks_);
    if (speaking == nullptr) std::unreachable();
    return function(*speaking);
  }

  spoken_protocols speaks_;
};

}  // namespace gyre::http
