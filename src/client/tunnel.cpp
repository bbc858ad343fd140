// src/client/tunnel.cpp: the languages of proxies.
#include "tunnel.hpp"

#include <gyre/client/client_error.hpp>
#include <gyre/http/base64.hpp>
#include <gyre/http/head_parser.hpp>
#include <gyre/http/head_writer.hpp>

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace gyre::http {
namespace {

std::string host_and_port(const url& target) {
  const bool v6 = target.host().find(':') != std::string_view::npos;
  std::string text = v6 ? "[" : "";
  text.append(target.host()).append(v6 ? "]:" : ":").append(std::to_string(target.port()));
  return text;
}

[[noreturn]] void refuse(const url& proxy, const url& target, std::string_view reason) {
  throw client_error(client_errc::proxy_refused, "connect " + host_and_port(target) + " through", proxy.origin(),
                     reason);
}

std::string answered(std::string_view text) { return "it answered \"" + std::string(text) + '"'; }

constexpr std::string_view closed = "it closed the connection";

const char* meaning_of(unsigned char reply) noexcept {
  constexpr std::array<const char*, 9> all{"",
                                           "general failure",
                                           "not allowed by its rules",
                                           "network unreachable",
                                           "host unreachable",
                                           "connection refused",
                                           "time to live expired",
                                           "command not supported",
                                           "address type not supported"};
  return reply < all.size() ? all[reply] : "unknown reason";
}

task<> log_in(socket_stream& through, const url& proxy, const url& target) {
  constexpr std::size_t max_size = 255;
  const std::string &user = proxy.user(), &password = proxy.password();
  if (user.empty() || user.size() > max_size || password.size() > max_size)
    refuse(proxy, target, "it wants a user name and a password");
  std::string text = "\x01";
  text += static_cast<char>(user.size());
  text += user;
  text += static_cast<char>(password.size());
  text += password;
  (void)co_await through.write_all(text);
  std::array<char, 2> answer{};
  (void)co_await through.read_exactly(std::span<char>(answer));
  if (answer[1] != 0) refuse(proxy, target, "the user name or the password is wrong");
}

void append_address(std::string& text, const address& host) {
  const auto bytes = host.bytes_v6();
  constexpr std::size_t before_v4 = 12;
  text += host.is_v4() ? '\x01' : '\x04';
  for (std::size_t i = host.is_v4() ? before_v4 : 0; i < bytes.size(); ++i) text += static_cast<char>(bytes[i]);
}

// Errors of the connection name the proxy.
task<> with_names(task<> asking, const url& proxy, const url& target) {
  try {
    co_await std::move(asking);
  } catch (const client_error&) {
    throw;
  } catch (const io_error& error) {
    if (error.code() == stream_errc::end_of_stream) refuse(proxy, target, closed);
    fail_through(proxy, target, error.code());
  }
}

task<> ask_http_proxy(socket_stream& through, const url& proxy, const url& target) {
  std::string text = "CONNECT " + host_and_port(target) + " HTTP/1.1\r\n";
  head_writer writer(text);
  writer.field("Host", host_and_port(target));
  if (!proxy.user().empty())
    writer.field("Proxy-Authorization", "Basic " + encode_base64(proxy.user() + ":" + proxy.password()));
  writer.end();
  (void)co_await through.write_all(text);
  head_parser parser(head_parser::kind::lenient_response);
  std::string received;
  for (;;) {
    const parse_state state = parser.parse(received);
    if (state == parse_state::failed) refuse(proxy, target, describe(parser.error()));
    if (state == parse_state::incomplete) {
      buffer_lease piece = co_await through.receive();
      if (piece.empty()) refuse(proxy, target, closed);
      received.append(piece.text());
      continue;
    }
    const int status = parser.status();
    if (status >= 100 && status < 200 && status != 101) {  // another answer follows
      received.erase(0, parser.size());
      parser.reset();
      continue;
    }
    if (status < 200 || status >= 300)
      refuse(proxy, target, answered(std::to_string(status) + " " + std::string(parser.reason())));
    // A server says nothing before the client has begun its handshake.
    if (parser.size() < received.size()) refuse(proxy, target, "it sends data after its answer");
    co_return;
  }
}

// Without an address, the proxy looks the name up.
task<> ask_socks_proxy(socket_stream& through, const url& proxy, const url& target, std::optional<address> found) {
  const bool may_log_in = !proxy.user().empty();
  (void)co_await through.write_all(may_log_in ? std::string_view("\x05\x02\x00\x02", 4)
                                              : std::string_view("\x05\x01\x00", 3));
  std::array<char, 2> choice{};
  (void)co_await through.read_exactly(std::span<char>(choice));
  if (choice[0] != 5) refuse(proxy, target, "it does not speak SOCKS 5");
  if (choice[1] == 2) {
    auto login = log_in(through, proxy, target);
    co_await std::move(login);
  } else if (choice[1] != 0) {
    refuse(proxy, target, "it wants an authentication that this client does not know");
  }
  std::string text("\x05\x01\x00", 3);
  if (found) {
    append_address(text, *found);
  } else {
    text += '\x03';
    text += static_cast<char>(target.host().size());
    text += target.host();
  }
  text += static_cast<char>(target.port() >> 8U);
  text += static_cast<char>(target.port() & 255U);
  (void)co_await through.write_all(text);
  std::array<char, 5> answer{};  // with the first byte of the address, which may be the length of a name
  (void)co_await through.read_exactly(std::span<char>(answer));
  if (const auto reply = static_cast<unsigned char>(answer[1]); reply != 0)
    refuse(proxy, target, answered(meaning_of(reply)) + " (" + std::to_string(reply) + ")");
  const std::size_t rest = answer[3] == 1   ? std::size_t{3 + 2}
                           : answer[3] == 4 ? std::size_t{15 + 2}
                                            : static_cast<unsigned char>(answer[4]) + std::size_t{2};
  std::string ignored(rest, '\0');
  (void)co_await through.read_exactly(std::span<char>(ignored));
}

}  // namespace

void fail_through(const url& proxy, const url& target, std::error_code reason) {
  throw io_error(reason, "connect", host_and_port(target) + " through " + std::string(proxy.origin()));
}

GYRE_CORO_WRAPPER task<> open_http_tunnel(socket_stream& through, const url& proxy, const url& target) {
  return with_names(ask_http_proxy(through, proxy, target), proxy, target);
}

task<> open_socks_tunnel(socket_stream& through, const url& proxy, const url& target,
                         const resolve_options& resolving) {
  std::optional<address> found;
  if (const auto numeric = address::parse(target.host(), 0)) {
    found = *numeric;
  } else if (proxy.scheme() != "socks5h") {
    const auto all = co_await resolve(target.host(), target.port(), resolving);
    found = all.front();
  }
  auto asking = with_names(ask_socks_proxy(through, proxy, target, found), proxy, target);
  co_await std::move(asking);
}

}  // namespace gyre::http
