// programs/gyre/proxy/forwarder.cpp: sends requests on, tries other servers, and streams the bodies.
#include "programs/gyre/proxy/forwarder.hpp"

#include "programs/gyre/proxy/forwarded_fields.hpp"
#include "programs/gyre/proxy/forwarded_target.hpp"
#include "programs/gyre/proxy/passed_bodies.hpp"
#include "programs/gyre/requests/large_heads.hpp"

#include <gyre/client/client_error.hpp>
#include <gyre/http/body_writer.hpp>
#include <gyre/http/framing.hpp>
#include <gyre/io/io_error.hpp>
#include <gyre/io/printable.hpp>
#include <gyre/loop/sleep.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace programs {
namespace {

namespace http = gyre::http;

http::client_options options_of(const proxy_settings& settings,
                                const std::optional<gyre::tls::client_config>& trusted) {
  http::client_options options;
  options.timeouts.connect = options.timeouts.tls = settings.connect_timeout;
  options.timeouts.first_byte = options.timeouts.between_bytes = settings.timeout;
  options.timeouts.queue = settings.timeout;
  options.limits.head = large_heads;
  options.limits.connections_per_origin = settings.connections;
  options.limits.idle_connections_per_origin = settings.connections;
  options.limits.idle_connections = std::numeric_limits<std::size_t>::max();
  options.redirects.max = 0;
  options.decompress = false;
  options.user_agent = options.accept = "";
  options.tls = trusted;
  return options;
}

// Nobody can have acted on the request.
bool was_not_sent(const std::system_error& failure) {
  const std::error_code code = failure.code();
  return code == std::errc::connection_refused || code == std::errc::host_unreachable ||
         code == std::errc::network_unreachable || std::string_view(code.category().name()) == "getaddrinfo";
}

bool may_be_repeated(const http::request& request) {
  constexpr std::array<std::string_view, 6> idempotent{"GET", "HEAD", "PUT", "DELETE", "OPTIONS", "TRACE"};
  return std::ranges::find(idempotent, request.method()) != idempotent.end();
}

constexpr int switching_protocols = 101;
constexpr int upgrade_required = 426;  // names the protocols: RFC 9110 §15.5.22

bool is_temporary(int status) noexcept { return status == 502 || status == 503 || status == 504; }

}  // namespace

forwarder::forwarder(const proxy_settings& settings, std::span<const http::url> urls, std::span<upstream_counts> counts,
                     const std::optional<gyre::tls::client_config>& trusted)
    : settings_(settings), upstreams_(urls, counts, settings.choice), client_(options_of(settings, trusted)) {}

GYRE_CORO_WRAPPER gyre::task<http::response> forwarder::answer(http::request& request) {
  const bool is_options = request.method() == "OPTIONS";
  if (request.method() == "CONNECT") return answer_itself(501);
  if (hops_left(request) == 0U) return answer_itself(is_options ? 204 : 501);  // this server has to answer
  if (request.target() == "*") return answer_itself(is_options ? 204 : 400);   // about the server: RFC 9110 §9.3.7
  request.body().set_limit(settings_.body_limit);
  return forward(request);
}

gyre::task<http::response> forwarder::answer_itself(int status) {
  co_return status == 204 ? http::response::no_content() : http::response::error(status);
}

gyre::task<http::response> forwarder::forward(http::request& request) {
  std::vector<std::size_t> tried;
  const bool has_body = !request.body().at_end();
  const auto body_begun = [&] { return has_body && (request.body().received() > 0 || request.body().at_end()); };
  for (;;) {
    const std::size_t number = upstreams_.choose(tried);
    const bool is_last = tried.size() + 1 >= std::min<std::size_t>(upstreams_.size(), settings_.retries + 1);
    upstreams::use use(upstreams_, number);
    std::string failure;
    int status = 502;
    bool safe = false;
    std::optional<http::client_request> prepared;
    try {
      prepared.emplace(prepare(request, number));
    } catch (const std::invalid_argument&) {  // a target that could leave the path of the server
      co_return http::response::error(400, "malformed request target");
    }
    try {
      http::client_response received = co_await prepared->send();
      if (auto sending = received.sending()) request.adopt(std::move(sending));
      received.body().check_arrived();  // as long as another answer is possible
      if (!is_temporary(received.status())) co_return make_response(request, std::move(received), std::move(use));
      use.failed();
      safe = may_be_repeated(request) && !body_begun();
      if (is_last || !safe) co_return make_response(request, std::move(received), std::move(use));
    } catch (const gyre::timed_out& error) {
      if (request.body().failed()) throw;  // the client has left in the middle of its body, or is too slow
      failure = error.what();
      status = 504;
    } catch (const std::system_error& error) {
      if (request.body().failed()) throw;
      failure = error.what();
      safe = !body_begun() && (was_not_sent(error) || may_be_repeated(request));
    }
    if (!failure.empty()) {
      use.failed();
      report(failure);
      if (is_last || !safe)
        co_return http::response::error(status, status == 504 ? "the server behind this one takes too long"
                                                              : "the server behind this one cannot be reached");
    }
    upstreams_.note_retry(number);
    tried.push_back(number);
  }
}

http::client_request forwarder::prepare(http::request& request, std::size_t number) {
  http::client_request made = client_.request(request.method(), upstreams_.url(number));
  const std::string_view path = upstreams_.url(number).path();
  if (path == "/" && request.target().starts_with('/'))
    made.target(request.target());
  else
    made.target(forwarded_target(path, request.target()));
  const std::string host = request.peer().empty() ? std::string() : request.peer().host();
  const client_description client{
      .host = host, .encrypted = request.security() != nullptr, .trusted = settings_.trust_forwarded};
  const hop_by_hop_fields dropped(request.fields());
  forward_fields(request, dropped, client, made, texts_);
  made.on_interim([&request](int hint, std::span<const http::field> fields) -> gyre::task<> {
    if (hint == 100) co_return;  // this server sends its own
    const std::vector<http::field> kept = fields_of_hint(fields);
    (void)co_await request.send_interim(hint, kept);
  });
  if (settings_.keep_host && !request.host().empty()) made.header("Host", request.host());
  if (request.body().at_end()) {
    const std::string protocols = protocols_passed_on(request);
    if (!protocols.empty()) made.upgrade(protocols);
  } else {
    const auto length = request.body().length();
    const std::string trailers = length ? std::string() : trailers_announced(request.fields(), dropped);
    if (!trailers.empty()) made.header("Trailer", trailers);
    made.body(http::request_body_owner(new passed_body(request)), length).full_duplex();
  }
  return made;
}

http::response forwarder::make_response(http::request& request, http::client_response&& from,
                                        upstreams::use&& use) const {
  // The fields live as long as the exchange, which `made` keeps when it streams the body.
  const auto fields = from.fields();
  const int status = from.status();
  const bool has_body = !from.body().at_end();
  const bool sends = static_cast<bool>(from.sending());
  if (!has_body) use.succeeded();
  http::response made;
  if (status == switching_protocols)
    made =
        http::response::switch_protocols(from.field("Upgrade"), connected_server(from.take_stream(), std::move(use)));
  else if (has_body)
    made = http::response::stream(passed_response(std::move(from), std::move(use), request), "");
  else if (request.method() == "HEAD")  // only the length of the body is announced
    made = http::response::stream([](http::body_writer&) -> gyre::task<> { co_return; }, "");
  if (status != switching_protocols) made.set_status(status);
  const hop_by_hop_fields dropped(fields);
  bool has_date = false;
  bool has_server = false;
  for (const http::field& each : fields) {
    const auto is = [&each](std::string_view name) {
      return each.name.size() == name.size() && http::equal_ignoring_case(each.name, name);
    };
    if (is("Date") && std::exchange(has_date, true)) continue;
    if (is("Server") && std::exchange(has_server, true)) continue;
    std::uint64_t length = 0;
    if (is("Content-Length")) {
      if (http::parse_length(each.value, length)) made.set_length(length);
    } else if (!dropped.contain(each.name) || (status == upgrade_required && is("Upgrade"))) {
      made.add_field(each.name, each.value);
    }
  }
  const bool in_chunks = has_body && !made.length() && request.version() != http::version::http_1_0;
  const std::string trailers = in_chunks ? trailers_announced(fields, dropped) : std::string();
  if (!trailers.empty()) made.add_field("Trailer", trailers);
  made.add_field("Via", "1.1 gyre");
  if (!request.body().at_end() && !sends) made.close_connection();  // the rest of the body is not wanted
  return made;
}

// Once a second: while a server is down, every request may fail.
void forwarder::report(const std::string& failure) noexcept {
  const gyre::time_point now = gyre::now();
  if (now < quiet_until_) {
    ++unreported_;
    return;
  }
  quiet_until_ = now + std::chrono::seconds(1);
  const std::string more = std::to_string(std::exchange(unreported_, 0));
  if (more == "0")
    gyre::print_diagnostic({"gyre proxy: ", failure});
  else
    gyre::print_diagnostic({"gyre proxy: ", failure, " (and ", more, " failures before)"});
}

gyre::task<bool> forwarder::is_healthy(std::size_t number) {
  try {
    auto prepared = client_.request("GET", upstreams_.url(number));
    prepared.target(settings_.health).timeout(settings_.connect_timeout);
    const http::client_response answered = co_await prepared.send();
    co_return answered.ok();
  } catch (const std::system_error&) {
    co_return false;
  }
}

gyre::task<> forwarder::check_health() {
  for (;;) {
    for (std::size_t i = 0; i < upstreams_.size(); ++i) {
      const bool healthy = co_await is_healthy(i);
      if (!upstreams_.set_healthy(i, healthy)) continue;
      gyre::print_diagnostic({"gyre proxy: ", upstreams_.url(i).origin(),
                              healthy ? " is healthy again" : " fails its health check and gets no requests"});
    }
    co_await gyre::sleep(settings_.health_interval);
  }
}

}  // namespace programs
