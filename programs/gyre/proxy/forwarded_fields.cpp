// programs/gyre/proxy/forwarded_fields.cpp: drops, adds and changes fields on their way to the server.
#include "programs/gyre/proxy/forwarded_fields.hpp"

#include <gyre/http/negotiation.hpp>
#include <gyre/http/value_from_text.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>

namespace programs {

namespace http = gyre::http;

namespace {

bool is_one_of(std::string_view name, std::span<const std::string_view> all) {
  return std::ranges::any_of(all, [name](std::string_view each) { return http::equal_ignoring_case(name, each); });
}

// A node of RFC 7239 §6: an IPv6 address is quoted, and in brackets.
std::string node(const std::string& host) {
  if (host.empty()) return "unknown";
  return host.contains(':') ? fmt::format("\"[{}]\"", host) : host;
}

std::string joined(std::span<const http::field> fields, std::string_view name) {
  std::string text;
  for (const http::field& each : fields) {
    if (!http::equal_ignoring_case(each.name, name)) continue;
    if (!text.empty()) text += ", ";
    text += each.value;
  }
  return text;
}

}  // namespace

bool is_hop_by_hop(std::string_view name, std::span<const http::field> all) {
  static constexpr std::array<std::string_view, 11> own{
      "Connection", "Keep-Alive", "Proxy-Connection",  "Proxy-Authenticate", "Proxy-Authorization", "TE",
      "Trailer",    "Upgrade",    "Transfer-Encoding", "Content-Length",     "HTTP2-Settings"};
  if (is_one_of(name, own)) return true;
  for (const http::field& each : all) {
    if (!http::equal_ignoring_case(each.name, "Connection")) continue;
    std::string_view options = each.value;
    for (auto option = http::next_in_list(options); !option.empty(); option = http::next_in_list(options))
      if (http::equal_ignoring_case(name, option)) return true;
  }
  return false;
}

// Gateways treat '_' as '-', and some of them every character that is no letter and no digit.
bool is_about_client(std::string_view name) {
  static constexpr std::array<std::string_view, 5> known{"Forwarded", "X-Real-IP", "X-Client-IP", "X-Cluster-Client-IP",
                                                         "True-Client-IP"};
  std::string normal(name);
  std::ranges::replace_if(normal, [](unsigned char c) { return std::isalnum(c) == 0; }, '-');
  constexpr std::string_view family = "X-Forwarded-";
  return is_one_of(normal, known) ||
         http::equal_ignoring_case(std::string_view(normal).substr(0, family.size()), family);
}

bool is_trailer_passed_on(std::string_view name, std::span<const http::field> all) {
  return http::may_be_trailer(name) && !is_about_client(name) && !is_hop_by_hop(name, all);
}

std::string trailers_announced(std::span<const http::field> all) {
  std::string text;
  const std::string announced = joined(all, "Trailer");
  std::string_view rest = announced;
  for (auto each = http::next_in_list(rest); !each.empty(); each = http::next_in_list(rest)) {
    if (!http::is_token(each) || !is_trailer_passed_on(each, all)) continue;
    if (!text.empty()) text += ", ";
    text += each;
  }
  return text;
}

bool takes_trailers(const http::request& request) {
  const std::string codings = joined(request.fields(), "TE");
  std::string_view rest = codings;
  for (auto each = http::next_in_list(rest); !each.empty(); each = http::next_in_list(rest))
    if (http::equal_ignoring_case(each, "trailers")) return true;
  return false;
}

std::vector<http::field> fields_of_hint(std::span<const http::field> all) {
  std::vector<http::field> kept(all.begin(), all.end());
  std::erase_if(kept, [all](const http::field& each) { return is_hop_by_hop(each.name, all); });
  return kept;
}

std::optional<std::uint64_t> hops_left(const http::request& request) {
  if (request.method() != "OPTIONS" && request.method() != "TRACE") return std::nullopt;
  return http::value_from_text<std::uint64_t>(request.field("Max-Forwards"));
}

std::string protocols_passed_on(const http::request& request) {
  std::string text;
  std::string_view asked = request.upgrade();
  for (auto each = http::next_in_list(asked); !each.empty(); each = http::next_in_list(asked)) {
    constexpr std::string_view http2 = "h2";
    const bool is_name = http::is_token(each.substr(0, each.find('/')));  // RFC 9110 §7.8
    if (!is_name || http::equal_ignoring_case(each.substr(0, http2.size()), http2)) continue;
    if (!text.empty()) text += ", ";
    text += each;
  }
  return text;
}

void forward_fields(const http::request& request, const client_description& client, http::client_request& to) {
  // Fields of which this proxy writes its own.
  static constexpr std::array<std::string_view, 8> replaced{
      "Host", "Expect", "Max-Forwards", "Via", "Forwarded", "X-Forwarded-For", "X-Forwarded-Proto", "X-Forwarded-Host"};
  for (const http::field& each : request.fields()) {
    if (is_one_of(each.name, replaced) || is_hop_by_hop(each.name, request.fields())) continue;
    if (!client.trusted && is_about_client(each.name)) continue;
    to.header(each.name, each.value);
  }
  if (takes_trailers(request)) to.header("TE", "trailers");
  const auto hops = hops_left(request);
  if (hops) to.header("Max-Forwards", std::to_string(*hops - 1));

  const auto before = [&](std::string_view name) {
    return client.trusted ? joined(request.fields(), name) : std::string();
  };
  const auto appended = [](std::string list, std::string_view last) {
    return list.empty() ? std::string(last) : list.append(", ").append(last);
  };
  const std::string_view scheme = client.encrypted ? "https" : "http";
  const std::string host(request.host());
  if (!client.host.empty()) to.header("X-Forwarded-For", appended(before("X-Forwarded-For"), client.host));
  const std::string proto = before("X-Forwarded-Proto");
  to.header("X-Forwarded-Proto", proto.empty() ? std::string(scheme) : proto);
  const std::string host_before = before("X-Forwarded-Host");
  if (!host.empty()) to.header("X-Forwarded-Host", host_before.empty() ? host : host_before);
  std::string element = fmt::format("for={};proto={}", node(client.host), scheme);
  if (!host.empty()) element += fmt::format(";host=\"{}\"", host);
  to.header("Forwarded", appended(before("Forwarded"), element));
  to.header("Via", appended(joined(request.fields(), "Via"), request.minor_version() == 0 ? "1.0 gyre" : "1.1 gyre"));
}

}  // namespace programs
