// src/http/http1/framing.cpp: the rules that prevent request smuggling.
#include <gyre/http/framing.hpp>

#include "semantics/characters.hpp"
#include "semantics/target_check.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <limits>

namespace gyre::http {
namespace {

// The fields that affect framing, as collected one after the other.
struct seen_fields {
  // A null data() means that there is no such field.
  std::string_view length;
  std::string_view host;
  bool equal_lengths = false;  // several fields, or a list, may repeat one length
  bool has_encoding = false;
  bool chunked = false;
  bool unknown_encoding = false;
  bool close = false;
  bool keep_alive = false;
  bool connection_upgrade = false;
  bool several_upgrades = false;
  std::string_view upgrade;
  bool expects_continue = false;
  bool expects_unknown = false;
  parse_error error = parse_error::none;

  void refuse(parse_error reason) noexcept {
    if (error == parse_error::none) error = reason;
  }
  void refuse_length(std::string_view another) noexcept {
    if (!equal_lengths || another != length) refuse(parse_error::bad_content_length);
  }
  void see(const field& f) noexcept;
  void see_encoding(std::string_view codings) noexcept;
  void see_connection(std::string_view options) noexcept;
  void see_expect(std::string_view expectations) noexcept;
};

// Most names differ in length already.
void seen_fields::see(const field& f) noexcept {
  switch (f.name.size()) {
    case 4:
      if (!is_name(f.name, "host")) return;
      if (host.data() != nullptr) refuse(parse_error::repeated_host);
      host = f.value;
      return;
    case 6:
      if (is_name(f.name, "expect")) see_expect(f.value);
      return;
    case 7:
      if (!is_name(f.name, "upgrade")) return;
      several_upgrades = upgrade.data() != nullptr;
      upgrade = f.value;
      return;
    case 10:
      if (is_name(f.name, "connection")) see_connection(f.value);
      return;
    case 14:
      if (!is_name(f.name, "content-length")) return;
      if (length.data() != nullptr) refuse_length(f.value);
      length = f.value;
      return;
    case 17:
      if (is_name(f.name, "transfer-encoding")) see_encoding(f.value);
      return;
    default:
      return;
  }
}

void seen_fields::see_encoding(std::string_view codings) noexcept {
  has_encoding = true;
  bool some = false;
  for (;;) {
    const std::string_view coding = next_in_list(codings);
    if (coding.empty()) break;
    some = true;
    if (chunked) refuse(parse_error::bad_transfer_encoding);  // chunked must come last, and only once
    if (equal_ignoring_case(coding, "chunked"))
      chunked = true;
    else
      unknown_encoding = true;
  }
  if (!some) refuse(parse_error::bad_transfer_encoding);
}

void seen_fields::see_connection(std::string_view options) noexcept {
  for (;;) {
    const std::string_view option = next_in_list(options);
    if (option.empty()) return;
    if (equal_ignoring_case(option, "close"))
      close = true;
    else if (equal_ignoring_case(option, "keep-alive"))
      keep_alive = true;
    else if (equal_ignoring_case(option, "upgrade"))
      connection_upgrade = true;
  }
}

// Several Expect fields form one list, and every expectation must be met: RFC 9110 §5.3, §10.1.1.
void seen_fields::see_expect(std::string_view expectations) noexcept {
  for (;;) {
    const std::string_view expectation = next_in_list(expectations);
    if (expectation.empty()) return;
    if (equal_ignoring_case(expectation, "100-continue"))
      expects_continue = true;
    else
      expects_unknown = true;
  }
}

// "5" for "5, 5"; the whole when the elements differ.
std::string_view one_of_equal(std::string_view list) noexcept {
  std::string_view rest = list;
  const std::string_view first = next_in_list(rest);
  for (auto next = next_in_list(rest); !next.empty(); next = next_in_list(rest))
    if (next != first) return list;
  return first;
}

[[gnu::always_inline]] inline seen_fields look_at(const head_parser& head) noexcept {
  seen_fields seen;
  seen.equal_lengths = head.is_lenient();
  for (const field& each : head.fields()) seen.see(each);
  return seen;
}

parse_error find_body(const seen_fields& seen, int minor_version, framing& out) noexcept {
  if (seen.error != parse_error::none) return seen.error;
  if (seen.has_encoding) {
    if (seen.length.data() != nullptr) return parse_error::length_and_encoding;
    if (minor_version == 0) return parse_error::bad_transfer_encoding;  // RFC 9112 §6.1: faulty framing
    if (!seen.chunked) return parse_error::bad_transfer_encoding;       // §6.3: the body has no known end
    if (seen.unknown_encoding) return parse_error::unknown_transfer_encoding;
    out.body = body_kind::chunked;
  } else if (seen.length.data() != nullptr) {
    if (!parse_length(seen.equal_lengths ? one_of_equal(seen.length) : seen.length, out.length))
      return parse_error::bad_content_length;
    out.body = out.length == 0 ? body_kind::none : body_kind::sized;
  }
  return parse_error::none;
}

bool stays_open(const seen_fields& seen, int minor_version) noexcept {
  return !seen.close && (minor_version > 0 || seen.keep_alive);
}

}  // namespace

bool parse_length(std::string_view text, std::uint64_t& out) noexcept {
  constexpr std::uint64_t max_length = std::numeric_limits<std::int64_t>::max();
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value > max_length) return false;
  out = value;
  return true;
}

parse_error understand_request(const head_parser& head, framing& out) noexcept {
  out = {};
  const seen_fields seen = look_at(head);
  if (seen.error != parse_error::none || seen.has_encoding || seen.length.data() != nullptr)
    if (const parse_error error = find_body(seen, head.minor_version(), out); error != parse_error::none) return error;
  const parse_error error = check_target(head.method(), head.target(), seen.host, head.minor_version() > 0);
  if (error != parse_error::none) return error;
  out.host = seen.host;
  out.keep_alive = stays_open(seen, head.minor_version());
  if (head.minor_version() > 0) {  // Expect has no meaning in HTTP/1.0
    if (seen.expects_unknown) return parse_error::unknown_expectation;
    out.expects_continue = seen.expects_continue && out.body != body_kind::none;
  }
  if (seen.connection_upgrade && head.minor_version() > 0) {
    out.upgrade = seen.upgrade;
    out.several_upgrades = seen.several_upgrades;
  }
  return parse_error::none;
}

parse_error understand_response(const head_parser& head, std::string_view request_method, framing& out) noexcept {
  out = {};
  const seen_fields seen = look_at(head);
  const int status = head.status();
  const bool tunnel = request_method == "CONNECT" && status >= 200 && status < 300;
  const bool bodyless = request_method == "HEAD" || status < 200 || status == 204 || status == 304 || tunnel;
  const parse_error error = find_body(seen, head.minor_version(), out);
  out.keep_alive = stays_open(seen, head.minor_version());
  if (status == 101 && seen.connection_upgrade) {
    out.upgrade = seen.upgrade;
    out.several_upgrades = seen.several_upgrades;
  }
  if (bodyless && error != parse_error::length_and_encoding) {
    out.body = body_kind::none;
    return seen.error == parse_error::none ? parse_error::none : error;
  }
  if (error != parse_error::none) return error;
  if (!seen.has_encoding && seen.length.data() == nullptr) {
    out.body = body_kind::until_end;
    out.keep_alive = false;
  }
  return parse_error::none;
}

}  // namespace gyre::http
