// src/http/middleware/authentication.cpp: parsing credentials, and the answers to missing or invalid ones.
#include <gyre/http/authentication.hpp>
#include <gyre/http/base64.hpp>
#include <gyre/http/field.hpp>

#include "semantics/characters.hpp"

#include <algorithm>
#include <cstdint>
#include <stdexcept>

namespace gyre::http {
namespace {

bool has_control(std::string_view text) noexcept { return std::any_of(text.begin(), text.end(), is_control); }

// Returns the token after "Scheme " in the credentials, or nothing when they use another scheme.
std::optional<std::string_view> token_of(std::string_view authorization, std::string_view scheme) noexcept {
  const std::size_t space = authorization.find(' ');
  if (!equal_ignoring_case(authorization.substr(0, space), scheme)) return std::nullopt;
  if (space == std::string_view::npos) return std::string_view();
  const std::size_t begin = authorization.find_first_not_of(' ', space);
  return begin == std::string_view::npos ? std::string_view() : authorization.substr(begin);
}

// b64token, RFC 6750 §2.1.
bool is_bearer_token(std::string_view text) noexcept {
  constexpr std::string_view punctuation = "-._~+/";
  const std::size_t end = std::min(text.find_last_not_of('=') + 1, text.size());
  return end > 0 && std::all_of(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(end), [&](char c) {
           return is_digit(c) || is_letter(c) || punctuation.find(c) != std::string_view::npos;
         });
}

// A proxy in front of this server could pick a different one of two Authorization fields.
enum class presence : std::uint8_t { absent, one, several };
presence find_authorization(const request& r, std::string_view& value) noexcept {
  presence found = presence::absent;
  for (const field& each : r.fields()) {
    if (!equal_ignoring_case(each.name, "Authorization")) continue;
    if (found != presence::absent) return presence::several;
    found = presence::one;
    value = each.value;
  }
  return found;
}

// RFC 9110 §5.6.4.
void append_quoted(std::string& out, std::string_view text, const char* what) {
  if (has_control(text))
    throw std::invalid_argument(std::string("authentication: ") + what + " holds a control character");
  out += '"';
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  out += '"';
}

std::string with_realm(std::string_view scheme, std::string_view realm) {
  std::string text(scheme);
  text += " realm=";
  append_quoted(text, realm, "the realm");
  return text;
}

}  // namespace

bool equal_secrets(std::string_view a, std::string_view b) noexcept {
  if (a.size() != b.size()) return false;
  unsigned differences = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    differences |= static_cast<unsigned char>(a[i]) ^ static_cast<unsigned char>(b[i]);
    asm volatile("" : "+r"(differences));  // opaque to the optimizer, so that it cannot add an early exit
  }
  return differences == 0;
}

std::optional<basic_credentials> parse_basic_credentials(std::string_view authorization) {
  const auto token = token_of(authorization, "Basic");
  if (!token || token->empty()) return std::nullopt;
  const auto text = decode_base64(*token);
  if (!text || has_control(*text)) return std::nullopt;
  const std::size_t colon = text->find(':');
  if (colon == std::string::npos) return std::nullopt;
  return basic_credentials{.user = text->substr(0, colon), .password = text->substr(colon + 1)};
}

std::optional<basic_credentials> find_basic_credentials(const request& r) {
  std::string_view value;
  if (find_authorization(r, value) != presence::one) return std::nullopt;
  return parse_basic_credentials(value);
}

bearer_credentials find_bearer_token(const request& r) noexcept {
  std::string_view value;
  const presence found = find_authorization(r, value);
  if (found == presence::several) return {.state = bearer_state::malformed, .token = {}};
  const auto token = token_of(value, "Bearer");
  if (!token) return {};
  if (!is_bearer_token(*token)) return {.state = bearer_state::malformed, .token = {}};
  return {.state = bearer_state::present, .token = *token};
}

challenge challenge::basic(std::string_view realm) {
  return challenge(with_realm("Basic", realm) + ", charset=\"UTF-8\"");
}
challenge challenge::bearer(std::string_view realm) { return challenge(with_realm("Bearer", realm)); }

response challenge::refuse(std::string_view error) const {
  std::string text = text_;
  if (!error.empty()) append_quoted(text.append(", error="), error, "the error");
  return response::error(error == "invalid_request" ? 400 : 401).add_field("WWW-Authenticate", text);
}

}  // namespace gyre::http
