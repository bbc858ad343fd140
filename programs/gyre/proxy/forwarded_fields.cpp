// programs/gyre/proxy/forwarded_fields.cpp: drops, adds and changes fields on their way to the server.
#include "programs/gyre/proxy/forwarded_fields.hpp"

#include <gyre/http/characters.hpp>
#include <gyre/http/negotiation.hpp>
#include <gyre/http/value_from_text.hpp>

#include <algorithm>
#include <array>
#include <cstddef>

namespace programs {

namespace http = gyre::http;

namespace {

/// The treatment of a field with this name.
enum class role : unsigned char {
  passes,      // unless Connection names it, or it describes the client
  hop_by_hop,  // dropped
  te,          // dropped; "trailers" is passed on
  replaced,    // this proxy writes its own
  via,         // the rest are appended to
  forwarded,   // replaced unless the client is trusted
  forwarded_for,
  forwarded_proto,
  forwarded_host,
};

struct known_field {
  std::string_view name;
  role what;
};
// In the order of the sizes of their names.
constexpr std::array<known_field, 19> known_fields{{{"TE", role::te},
                                                    {"Via", role::via},
                                                    {"Host", role::replaced},
                                                    {"Expect", role::replaced},
                                                    {"Trailer", role::hop_by_hop},
                                                    {"Upgrade", role::hop_by_hop},
                                                    {"Forwarded", role::forwarded},
                                                    {"Connection", role::hop_by_hop},
                                                    {"Keep-Alive", role::hop_by_hop},
                                                    {"Max-Forwards", role::replaced},
                                                    {"Content-Length", role::hop_by_hop},
                                                    {"HTTP2-Settings", role::hop_by_hop},
                                                    {"X-Forwarded-For", role::forwarded_for},
                                                    {"X-Forwarded-Host", role::forwarded_host},
                                                    {"Proxy-Connection", role::hop_by_hop},
                                                    {"Transfer-Encoding", role::hop_by_hop},
                                                    {"X-Forwarded-Proto", role::forwarded_proto},
                                                    {"Proxy-Authenticate", role::hop_by_hop},
                                                    {"Proxy-Authorization", role::hop_by_hop}}};
constexpr std::size_t max_known_size = 19;

// For each size, the index of the first name of this size or more.
constexpr std::array<std::uint8_t, max_known_size + 2> first_known = [] {
  std::array<std::uint8_t, max_known_size + 2> table{};
  for (std::size_t size = 0; size < table.size(); ++size)
    for (const known_field& each : known_fields)
      if (each.name.size() < size) ++table[size];
  return table;
}();

role role_of(std::string_view name) noexcept {
  if (name.size() > max_known_size) return role::passes;
  for (std::size_t i = first_known[name.size()]; i < first_known[name.size() + 1]; ++i)
    if (http::equal_ignoring_case(known_fields[i].name, name)) return known_fields[i].what;
  return role::passes;
}

bool is_of_framing(role what) noexcept { return what == role::hop_by_hop || what == role::te; }

using http::to_lower;

// Gateways treat '_' as '-', and some of them every character that is no letter and no digit.
char normal(char c) noexcept {
  c = to_lower(c);
  return (c >= 'a' && c <= 'z') || http::is_digit(c) ? c : '-';
}

bool is_before(std::string_view a, std::string_view b) noexcept {
  return std::ranges::lexicographical_compare(a, b, {}, &to_lower, &to_lower);
}

// `in_lower_case` is a name in its normal form.
bool ends_with(std::string_view name, std::string_view in_lower_case) noexcept {
  if (name.size() < in_lower_case.size()) return false;
  name.remove_prefix(name.size() - in_lower_case.size());
  for (std::size_t i = name.size(); i-- > 0;)
    if (normal(name[i]) != in_lower_case[i]) return false;
  return true;
}

bool begins_with(std::string_view name, std::string_view in_lower_case) noexcept {
  return name.size() >= in_lower_case.size() && ends_with(name.substr(0, in_lower_case.size()), in_lower_case);
}

// A node of RFC 7239 §6: an IPv6 address is quoted, and in brackets.
void append_node(std::string& to, std::string_view host) {
  if (host.empty())
    to += "unknown";
  else if (host.contains(':'))
    to.append("\"[").append(host).append("]\"");
  else
    to += host;
}

void append_to_list(std::string& list, std::string_view element) {
  if (!list.empty()) list += ", ";
  list += element;
}

}  // namespace

hop_by_hop_fields::hop_by_hop_fields(std::span<const http::field> all) {
  constexpr std::string_view connection = "Connection";
  for (const http::field& each : all) {
    if (each.name.size() != connection.size() || !http::equal_ignoring_case(each.name, connection)) continue;
    std::string_view options = each.value;
    for (auto option = http::next_in_list(options); !option.empty(); option = http::next_in_list(options))
      if (!is_of_framing(role_of(option)) && !http::equal_ignoring_case(option, "close")) named_.push_back(option);
  }
  std::ranges::sort(named_, &is_before);
}

bool hop_by_hop_fields::are_named(std::string_view name) const noexcept {
  return !named_.empty() && std::ranges::binary_search(named_, name, &is_before);
}

bool hop_by_hop_fields::contain(std::string_view name) const noexcept {
  return is_of_framing(role_of(name)) || are_named(name);
}

// docs/guide/proxy.md lists them. Few names pass the first tests, which cost little.
bool is_about_client(std::string_view name) noexcept {
  static constexpr std::array<std::string_view, 2> parts{"forwarded", "forward-for"};
  static constexpr std::array<std::string_view, 9> ends{"client-ip",     "clientip",       "connecting-ip",
                                                        "connection-ip", "originating-ip", "real-ip",
                                                        "remote-addr",   "remote-ip",      "user-ip"};
  static constexpr std::array<std::string_view, 13> names{
      "cf-connecting-ipv6", "cf-pseudo-ipv4",           "cf-visitor",      "cloudfront-viewer-address", "fastly-ssl",
      "front-end-https",    "x-azure-socketip",         "x-host",          "x-original-host",           "x-scheme",
      "x-url-scheme",       "x-envoy-external-address", "x-original-proto"};
  if (name.empty()) return false;
  const char last = to_lower(name.back());
  if (last == 'p' || last == 'r')
    for (const std::string_view each : ends)
      if (ends_with(name, each)) return true;
  for (const std::string_view each : names)
    if (name.size() == each.size() && ends_with(name, each)) return true;
  for (std::size_t i = 0; i + parts[0].size() <= name.size(); ++i)
    if (to_lower(name[i]) == 'f' &&
        std::ranges::any_of(parts, [&](std::string_view each) { return begins_with(name.substr(i), each); }))
      return true;
  return false;
}

bool is_trailer_passed_on(std::string_view name, const hop_by_hop_fields& of_message) noexcept {
  return http::may_be_trailer(name) && !is_about_client(name) && !of_message.contain(name);
}

std::string trailers_announced(std::span<const http::field> all, const hop_by_hop_fields& of_message) {
  std::string text;
  for (const http::field& each : all) {
    if (!http::equal_ignoring_case(each.name, "Trailer")) continue;
    std::string_view rest = each.value;
    for (auto name = http::next_in_list(rest); !name.empty(); name = http::next_in_list(rest))
      if (http::is_token(name) && is_trailer_passed_on(name, of_message)) append_to_list(text, name);
  }
  return text;
}

void keep_trailers_passed_on(std::vector<http::field>& trailers, std::span<const http::field> header) {
  if (trailers.empty()) return;
  const hop_by_hop_fields dropped(header);
  std::erase_if(trailers, [&](const http::field& each) { return !is_trailer_passed_on(each.name, dropped); });
}

std::vector<http::field> fields_of_hint(std::span<const http::field> all) {
  const hop_by_hop_fields dropped(all);
  std::vector<http::field> kept(all.begin(), all.end());
  std::erase_if(kept, [&](const http::field& each) { return dropped.contain(each.name); });
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
    append_to_list(text, each);
  }
  return text;
}

namespace {

bool asks_for_trailers(std::string_view codings) noexcept {
  for (auto each = http::next_in_list(codings); !each.empty(); each = http::next_in_list(codings))
    if (http::equal_ignoring_case(each, "trailers")) return true;
  return false;
}

}  // namespace

void forward_fields(const http::request& request, const hop_by_hop_fields& dropped, const client_description& client,
                    http::client_request& to, forwarded_texts& texts) {
  texts.clear();
  bool takes_trailers = false;
  const auto keep_if_trusted = [&client](std::string& list, std::string_view value) {
    if (client.trusted) append_to_list(list, value);
  };
  for (const http::field& each : request.fields()) {
    switch (role_of(each.name)) {
      case role::passes:
        if (!dropped.are_named(each.name) && (client.trusted || !is_about_client(each.name)))
          to.header(each.name, each.value);
        break;
      case role::hop_by_hop:
      case role::replaced:
        break;
      case role::te:
        takes_trailers = takes_trailers || asks_for_trailers(each.value);
        break;
      case role::via:
        append_to_list(texts.via, each.value);
        break;
      case role::forwarded:
        keep_if_trusted(texts.elements, each.value);
        break;
      case role::forwarded_for:
        keep_if_trusted(texts.addresses, each.value);
        break;
      case role::forwarded_proto:
        keep_if_trusted(texts.proto, each.value);
        break;
      case role::forwarded_host:
        keep_if_trusted(texts.host, each.value);
        break;
    }
  }
  if (takes_trailers) to.header("TE", "trailers");
  const auto hops = hops_left(request);
  if (hops) to.header("Max-Forwards", std::to_string(*hops - 1));

  const std::string_view scheme = client.encrypted ? "https" : "http";
  const std::string_view host = request.host();
  if (!client.host.empty()) {
    append_to_list(texts.addresses, client.host);
    to.header("X-Forwarded-For", texts.addresses);
  }
  to.header("X-Forwarded-Proto", texts.proto.empty() ? scheme : texts.proto);
  if (!host.empty()) to.header("X-Forwarded-Host", texts.host.empty() ? host : texts.host);
  append_to_list(texts.elements, "for=");
  append_node(texts.elements, client.host);
  texts.elements.append(";proto=").append(scheme);
  if (!host.empty()) texts.elements.append(";host=\"").append(host).append("\"");
  to.header("Forwarded", texts.elements);
  append_to_list(texts.via, number_of(request.version()));
  texts.via += " gyre";
  to.header("Via", texts.via);
}

}  // namespace programs
