// examples/reverse_proxy.cpp: passes every request on to one upstream server, and streams the bodies both ways.
//
// A response is passed on once the request's body has been sent. An error response that comes earlier ends the sending.
// Upgrades and trailers are not passed on.
//
// The proxy assumes that clients connect to it directly. So it drops fields by which clients could lie about their
// identity (Forwarded, X-Forwarded-For, X-Real-IP and the like), and sets X-Forwarded-For to the client's address.
// Behind another proxy, use `--trust-forwarded yes`: the fields are passed on, and the client's address is appended.
#include <gyre/gyre.hpp>
#include <gyre/http.hpp>
#include <gyre/io/printable.hpp>
#include <gyre/net/host_port.hpp>

#include "upstream_connection.hpp"
#include "upstream_pool.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <expected>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace {

namespace http = gyre::http;
using namespace std::chrono_literals;
using upstream_pointer = upstream_pool::pointer;

// Fields for one connection only are not forwarded: RFC 9110 §7.6.1. Bodies are
// framed anew, and trailers are dropped.
bool is_hop_by_hop(std::string_view name, std::span<const http::field> all) {
  for (const std::string_view each : {"Connection", "Keep-Alive", "Proxy-Connection", "TE", "Trailer", "Upgrade",
                                      "Transfer-Encoding", "Content-Length"})
    if (http::equal_ignoring_case(name, each)) return true;
  for (const http::field& each : all) {
    if (!http::equal_ignoring_case(each.name, "Connection")) continue;
    std::string_view options = each.value;
    for (auto option = http::next_in_list(options); !option.empty(); option = http::next_in_list(options))
      if (http::equal_ignoring_case(name, option)) return true;
  }
  return false;
}

// True for fields by which proxies describe the client. Some servers treat '_' as '-'.
bool is_about_client(std::string_view name) {
  std::string normal(name);
  std::replace(normal.begin(), normal.end(), '_', '-');
  for (const std::string_view each : {"Forwarded", "X-Real-IP", "X-Client-IP", "X-Cluster-Client-IP", "True-Client-IP"})
    if (http::equal_ignoring_case(normal, each)) return true;
  constexpr std::string_view family = "X-Forwarded-";
  return http::equal_ignoring_case(std::string_view(normal).substr(0, family.size()), family);
}

// How many more proxies may pass this request on; nothing for any number. RFC 9110 §7.6.2.
std::optional<std::uint64_t> hops_left(const http::request& request) {
  if (request.method() != "OPTIONS" && request.method() != "TRACE") return std::nullopt;
  return http::value_from_text<std::uint64_t>(request.field("Max-Forwards"));
}

class proxy {
 public:
  proxy(std::string upstream, std::chrono::nanoseconds patience, bool trusts_clients)
      : upstream_(std::move(upstream)), patience_(patience), trusts_clients_(trusts_clients) {}

  void watch_in(gyre::task_group& group) noexcept { idle_.watch_in(group); }

  gyre::task<http::response> answer(http::request& request) {
    if (request.method() == "CONNECT") co_return http::response::error(501);
    if (hops_left(request) == 0U)  // this server has to answer
      co_return request.method() == "OPTIONS" ? http::response::no_content() : http::response::error(501);
    request.body().set_limit(std::numeric_limits<std::uint64_t>::max());
    try {
      co_return co_await forward(request);
    } catch (const gyre::timed_out&) {
      co_return http::response::error(504, "the server behind this one takes too long");
    } catch (const gyre::incomplete_transfer&) {
      throw;  // the client left in the middle of its body
    } catch (const gyre::io_error& error) {
      std::fprintf(stderr, "%s\n", error.what());
      co_return http::response::error(502, "the server behind this one cannot be reached");
    } catch (const upstream_connection::bad_answer& error) {
      std::fprintf(stderr, "%s: %s\n", upstream_.c_str(), error.what());
      co_return http::response::error(502, "the server behind this one gave no proper answer");
    }
  }

 private:
  gyre::task<http::response> forward(http::request& request) {
    // The server may close an idle connection just when it is reused. So only a request that
    // can be sent twice is sent on one.
    const bool repeatable = request.body().at_end() && (request.method() == "GET" || request.method() == "HEAD");
    while (repeatable) {
      upstream_pointer upstream = co_await idle_.take();
      if (upstream == nullptr) break;
      try {
        co_await exchange(request, *upstream);
      } catch (const gyre::timed_out&) {
        throw;
      } catch (const std::exception&) {
        if (!upstream->silent()) throw;
        continue;
      }
      // A server that has waited too long may answer 408 just when the request is sent: RFC 9110 §15.5.9.
      if (upstream->head().status() == 408) continue;
      co_return make_response(request, std::move(upstream));
    }
    auto connecting = gyre::tcp_stream::connect(upstream_);
    auto upstream = std::make_unique<upstream_connection>(co_await gyre::timeout(patience_, std::move(connecting)));
    co_await exchange(request, *upstream);
    co_return make_response(request, std::move(upstream));
  }

  // Sends the request and receives the head of the response, as long as there is progress.
  gyre::task<> exchange(http::request& request, upstream_connection& upstream) {
    auto limited = [&](gyre::timeout_scope& limit) -> gyre::task<> {
      auto both = [&](gyre::task_group& group) -> gyre::task<> {
        auto sending = group.spawn(send(request, upstream, limit));
        co_await upstream.receive_head(request.method());
        if (upstream.head().status() >= 400 && !sending.done()) group.cancel();  // the server rejected it
        co_await group.wait();
      };
      co_await gyre::task_group::scope(both);
    };
    co_await gyre::timeout(patience_, limited);
  }

  gyre::task<> send(http::request& request, upstream_connection& upstream, gyre::timeout_scope& limit) {
    upstream.set_request_sent(false);
    http::body_reader& body = request.body();
    const bool chunked = !body.length();
    std::string bytes = request_head(request);
    std::string_view next = bytes;
    for (;;) {
      try {
        co_await upstream.stream().write_all(next);
      } catch (const gyre::io_error&) {
        co_return;  // there may be a response all the same: the receiving task finds out
      }
      if (body.at_end()) break;
      limit.reschedule(1h);  // the server has its own limit for the client
      const std::string_view piece = co_await body.receive();
      limit.reschedule(patience_);
      next = piece;
      if (!chunked) continue;
      bytes.clear();
      http::head_writer out(bytes);
      if (!piece.empty()) {
        out.chunk_begin(piece.size());
        bytes += piece;
        out.chunk_end();
      }
      if (body.at_end()) out.last_chunk();
      next = bytes;
    }
    upstream.set_request_sent(true);
  }

  std::string request_head(http::request& request) const {
    std::string text, forwarded_for;
    http::head_writer out(text);
    std::string target(request.target());
    if (!target.starts_with('/')) {  // the absolute form, or "*"
      target = request.path();
      if (!request.query().empty()) target += '?' + std::string(request.query());
    }
    out.request_line(request.method(), target);
    out.field("Host", request.host().empty() ? std::string_view(upstream_) : request.host());
    const auto hops = hops_left(request);
    if (hops) out.field("Max-Forwards", *hops - 1);
    for (const http::field& each : request.fields()) {
      if (hops && http::equal_ignoring_case(each.name, "Max-Forwards")) continue;  // sent above, reduced by one
      if (!trusts_clients_ && is_about_client(each.name)) continue;
      if (http::equal_ignoring_case(each.name, "X-Forwarded-For"))
        forwarded_for.append(each.value).append(", ");
      else if (!http::equal_ignoring_case(each.name, "Host") && !http::equal_ignoring_case(each.name, "Expect") &&
               !is_hop_by_hop(each.name, request.fields()))
        out.field(each.name, each.value);
    }
    out.field("X-Forwarded-For", forwarded_for + request.peer().host());
    out.field("Via", request.minor_version() == 0 ? "1.0 gyre" : "1.1 gyre");
    if (!request.body().length())
      out.field("Transfer-Encoding", "chunked");
    else if (!request.field("Content-Length").empty())
      out.field("Content-Length", *request.body().length());
    out.end();
    return text;
  }

  http::response make_response(http::request& request, upstream_pointer upstream) {
    const http::head_parser& head = upstream->head();
    const bool has_body = upstream->framing().body != http::body_kind::none;
    http::response made;
    if (has_body)
      made = http::response::stream(passed_on(*this, std::move(upstream)), "");
    else if (request.method() == "HEAD")  // only the length of the body is announced
      made = http::response::stream([](http::body_writer&) -> gyre::task<> { co_return; }, "");
    made.set_status(head.status());
    for (const http::field& each : head.fields()) {
      std::uint64_t length = 0;
      if (http::equal_ignoring_case(each.name, "Content-Length") && http::parse_length(each.value, length))
        made.set_length(length);
      if (!http::equal_ignoring_case(each.name, "Date") && !is_hop_by_hop(each.name, head.fields()))
        made.add_field(each.name, each.value);
    }
    made.add_field("Via", "1.1 gyre");
    if (!request.body().at_end()) made.close_connection();  // the rest of the body is not wanted
    if (!has_body) idle_.keep(std::move(upstream));
    return made;
  }

  // Streams the rest of a response.
  struct passed_on {
    passed_on(proxy& p, upstream_pointer u) : owner(&p), upstream(std::move(u)) {}
    gyre::task<> operator()(http::body_writer& out) {
      for (;;) {
        auto receiving = upstream->receive_body();
        const std::string_view piece = co_await gyre::timeout(owner->patience_, std::move(receiving));
        if (piece.empty()) break;
        co_await out.write(piece);
      }
      owner->idle_.keep(std::move(upstream));
    }
    proxy* owner;
    upstream_pointer upstream;
  };

  std::string upstream_;
  std::chrono::nanoseconds patience_;
  bool trusts_clients_;
  upstream_pool idle_;
};

struct settings {
  std::string listen = "127.0.0.1:8080";
  std::string upstream;
  double timeout = 30;
  bool trust_forwarded = false;
};

gyre::task<> serve(settings wanted) {
  proxy forwarder(wanted.upstream, std::chrono::nanoseconds(static_cast<std::int64_t>(wanted.timeout * 1e9)),
                  wanted.trust_forwarded);
  http::server_options options;
  options.listen = wanted.listen;
  options.routes = [&forwarder](http::request& request) -> gyre::task<http::response> {
    co_return co_await forwarder.answer(request);
  };
  http::server server(std::move(options));
  std::printf("listening on http://%s\n", server.where().c_str());
  std::fflush(stdout);
  auto run = [&](gyre::task_group& group) -> gyre::task<> {
    forwarder.watch_in(group);
    co_await server.run();
    group.cancel();  // ends the watches
  };
  co_await gyre::task_group::scope(run);
}

// Returns an error message, or an empty string.
std::string set(settings& wanted, std::string_view name, std::string_view value) {
  const auto expected = [&](std::string_view what) {
    return std::string(name).append(": expected ").append(what).append(", got \"").append(value).append("\"");
  };
  if (name == "--listen" || name == "--upstream") {
    const auto where = gyre::host_port::parse(value);
    if (!where || (name == "--upstream" && where->port == 0)) return expected("HOST:PORT");
    (name == "--listen" ? wanted.listen : wanted.upstream) = value;
  } else if (name == "--timeout") {
    wanted.timeout = http::value_from_text<double>(value).value_or(0);
    if (!(wanted.timeout > 0 && wanted.timeout < 1e9)) return expected("seconds, more than 0");
  } else if (name == "--trust-forwarded") {
    if (value != "yes" && value != "no") return expected("yes or no");
    wanted.trust_forwarded = value == "yes";
  } else {
    return "unknown option: " + std::string(name);
  }
  return {};
}

std::expected<settings, std::string> parse(int count, char** arguments) {
  settings wanted;
  for (int i = 1; i < count; i += 2) {
    if (i + 1 == count) return std::unexpected(std::string(arguments[i]) + " needs a value");
    if (std::string wrong = set(wanted, arguments[i], arguments[i + 1]); !wrong.empty()) return std::unexpected(wrong);
  }
  if (wanted.upstream.empty()) return std::unexpected("--upstream is missing");
  return wanted;
}

}  // namespace

int main(int count, char** arguments) {
  const auto wanted = parse(count, arguments);
  if (!wanted) {
    gyre::print_diagnostic({"reverse_proxy: ", wanted.error()});
    std::fputs(
        "usage: reverse_proxy --upstream HOST:PORT [--listen HOST:PORT] [--timeout SECONDS]\n"
        "                     [--trust-forwarded yes|no]\n",
        stderr);
    return 2;
  }
  return gyre::run_main(serve(*wanted));
}
