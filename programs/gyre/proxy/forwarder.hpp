// programs/gyre/proxy/forwarder.hpp: passes requests on to one of several servers, and their responses back.
#pragma once

#include "programs/gyre/proxy/forwarded_fields.hpp"
#include "programs/gyre/proxy/settings.hpp"
#include "programs/gyre/proxy/upstreams.hpp"

#include <gyre/client/client.hpp>
#include <gyre/http/request.hpp>
#include <gyre/http/response.hpp>
#include <gyre/tls/client_config.hpp>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <optional>
#include <span>
#include <string>

namespace programs {

/// The forwarding of one loop, with a client of its own. Bodies are streamed both ways.
///
/// A request that fails before a response has begun is sent to another server, if that is safe: if nobody can have
/// acted on it, or if it may be repeated (RFC 9110 §9.2.2), and its body was not read yet.
class forwarder {
 public:
  /// Lifetime: the arguments must outlive this, and this its responses.
  forwarder(const proxy_settings& settings, std::span<const gyre::http::url> urls, std::span<upstream_counts> counts,
            const std::optional<gyre::tls::client_config>& trusted);

  GYRE_CORO_WRAPPER gyre::task<gyre::http::response> answer(gyre::http::request& request);

  /// Asks every server for settings.health until it is cancelled.
  gyre::task<> check_health();

 private:
  static gyre::task<gyre::http::response> answer_itself(int status);
  gyre::task<gyre::http::response> forward(gyre::http::request& request);
  [[nodiscard]] gyre::http::client_request prepare(gyre::http::request& request, std::size_t number);
  [[nodiscard]] gyre::http::response make_response(gyre::http::request& request, gyre::http::client_response&& from,
                                                   upstreams::use&& use) const;
  gyre::task<bool> is_healthy(std::size_t number);
  void report(const std::string& failure) noexcept;

  const proxy_settings& settings_;
  upstreams upstreams_;
  gyre::http::client client_;
  forwarded_texts texts_;  // for one request after the other
  gyre::time_point quiet_until_ = {};
  std::uint64_t unreported_ = 0;  // failures since the last report
};

}  // namespace programs
