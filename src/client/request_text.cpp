// src/client/request_text.cpp: fields of the program, and those that the client adds.
#include "request_text.hpp"

#include <gyre/http/base64.hpp>
#include <gyre/http/head_parser.hpp>
#include <gyre/http/head_writer.hpp>
#include <gyre/io/printable.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <stdexcept>

namespace gyre::http {
namespace {

/// A field that means something to the client. It sets the fields itself that have no flag: they decide where a message
/// ends, or concern one connection only.
struct meaningful_name {
  std::string_view name;
  bool request_text::* noted = nullptr;
};
constexpr std::array<meaningful_name, 19> meaningful_names{{{"TE", &request_text::takes_trailers},
                                                            {"Host", &request_text::has_host},
                                                            {"Range", &request_text::has_range},
                                                            {"Accept", &request_text::has_accept},
                                                            {"Cookie", &request_text::has_cookie},
                                                            {"Expect"},
                                                            {"Upgrade"},
                                                            {"Connection", &request_text::closes},
                                                            {"Keep-Alive"},
                                                            {"User-Agent", &request_text::has_user_agent},
                                                            {"Content-Type", &request_text::has_content_type},
                                                            {"Authorization", &request_text::has_authorization},
                                                            {"Content-Length"},
                                                            {"Accept-Encoding", &request_text::has_accept_encoding},
                                                            {"Idempotency-Key", &request_text::has_idempotency_key},
                                                            {"Proxy-Connection"},
                                                            {"Transfer-Encoding"},
                                                            {"X-Idempotency-Key", &request_text::has_idempotency_key},
                                                            {"Proxy-Authorization"}}};

// Where the names of each size begin in meaningful_names, which is in the order of their sizes.
constexpr std::size_t max_meaningful_size = 19;
constexpr std::array<std::uint8_t, max_meaningful_size + 2> first_of_size = [] {
  std::array<std::uint8_t, max_meaningful_size + 2> table{};
  for (std::size_t size = 0; size < table.size(); ++size)
    for (const meaningful_name& each : meaningful_names)
      if (each.name.size() < size) ++table[size];
  return table;
}();

const meaningful_name* find_meaning(std::string_view name) noexcept {
  if (name.size() > max_meaningful_size) return nullptr;
  for (std::size_t i = first_of_size[name.size()]; i < first_of_size[name.size() + 1]; ++i)
    if (equal_ignoring_case(meaningful_names[i].name, name)) return &meaningful_names[i];
  return nullptr;
}

// For names and values that need no check.
void append_line(std::string& out, std::string_view name, std::string_view value) {
  out.append(name).append(": ", 2).append(value).append("\r\n", 2);
}
void append_line(std::string& out, std::string_view name, std::uint64_t value) {
  char digits[20];
  const char* const end = std::to_chars(digits, digits + sizeof(digits), value).ptr;
  append_line(out, name, std::string_view(digits, static_cast<std::size_t>(end - digits)));
}

std::string basic_value(const std::string& user, const std::string& password) {
  return "Basic " + encode_base64(user + ":" + password);
}

}  // namespace

client_fields::client_fields(std::string_view agent, std::string_view accepted, std::string_view known_codings) {
  if (!agent.empty()) append_line(user_agent, "User-Agent", agent);
  if (!accepted.empty()) append_line(accept, "Accept", accepted);
  if (!known_codings.empty()) append_line(codings, "Accept-Encoding", known_codings);
  all = user_agent + accept + codings;
}

void request_text::clear() noexcept {
  constexpr std::size_t kept = std::size_t{64} << 10U;
  method.clear();
  target.clear();
  fields.clear();
  body.clear();
  upgrade.clear();
  if (body.capacity() > kept) std::string().swap(body);
  has_host = has_user_agent = has_accept = has_authorization = has_content_type = has_idempotency_key = false;
  closes = has_body = has_accept_encoding = has_range = has_cookie = takes_trailers = false;
}

void request_text::set_method(std::string_view name) {
  if (!is_token(name) || name.size() > head_parser::max_method_size)
    throw std::invalid_argument("method \"" + printable(name) + "\": it is not a token of at most 32 characters");
  if (name == "CONNECT") throw std::invalid_argument("method CONNECT: the client itself opens tunnels through proxies");
  method.clear();
  method.append(name);  // assign() would cost more
}

void request_text::set_target(std::string_view text) {
  const auto may_stand = [](unsigned char c) { return c > 0x20 && c < 0x7f && c != '#'; };
  if (!text.starts_with('/') || !std::ranges::all_of(text, may_stand))
    throw std::invalid_argument("target \"" + printable(text) +
                                "\": it does not begin with a slash, or holds what must be encoded");
  target.clear();
  target.append(text);
}

void request_text::add_field(std::string_view name, std::string_view value) {
  const meaningful_name* const found = find_meaning(name);
  if (found != nullptr && found->noted == nullptr)
    throw std::invalid_argument("field \"" + std::string(found->name) +
                                "\": the client sets it itself; see body(), expect_continue(), upgrade() and "
                                "client_options");
  bool* const noted = found == nullptr ? nullptr : &(this->*found->noted);
  if (noted == &closes && !equal_ignoring_case(value, "close"))
    throw std::invalid_argument("field \"Connection\": only \"close\" can be asked for");
  if (noted == &takes_trailers) {
    if (!equal_ignoring_case(value, "trailers"))
      throw std::invalid_argument("field \"TE\": only \"trailers\" can be asked for");
    if (takes_trailers) return;
  }
  if (noted == &has_host && has_host) remove_field(name);
  const std::size_t before = fields.size();
  try {
    head_writer(fields).field(name, value);
  } catch (...) {
    fields.resize(before);
    throw;
  }
  if (noted != nullptr) *noted = true;
}

void request_text::remove_field(std::string_view name) {
  for (std::size_t begin = 0; begin < fields.size();) {
    const std::size_t end = fields.find('\n', begin) + 1;
    const std::string_view line = std::string_view(fields).substr(begin, end - begin);
    if (equal_ignoring_case(line.substr(0, line.find(':')), name))
      fields.erase(begin, end - begin);
    else
      begin = end;
  }
}

bool request_text::has_field(std::string_view name) const {
  for (std::size_t begin = 0; begin < fields.size(); begin = fields.find('\n', begin) + 1) {
    const std::string_view rest = std::string_view(fields).substr(begin);
    if (equal_ignoring_case(rest.substr(0, rest.find(':')), name)) return true;
  }
  return false;
}

void request_text::set_content_type(std::string_view media_type) {
  if (media_type.empty()) return;
  if (has_content_type) remove_field("Content-Type");
  add_field("Content-Type", media_type);
}

void request_text::drop_body() {
  for (const std::string_view each :
       {"Content-Type", "Content-Encoding", "Content-Language", "Content-Location", "Trailer"})
    remove_field(each);
  body.clear();
  has_body = has_content_type = false;
}

// The Host field of the program named the old origin.
void request_text::drop_credentials() {
  for (const std::string_view each : {"Authorization", "Cookie", "Cookie2", "WWW-Authenticate", "Host"})
    remove_field(each);
  has_authorization = has_host = has_cookie = false;
}

void request_text::authorize(std::string_view scheme, std::string_view credentials) {
  if (has_authorization) remove_field("Authorization");
  std::string value(scheme);
  value.append(" ").append(credentials);
  add_field("Authorization", value);
}

void request_text::authorize_basic(std::string_view user, std::string_view password) {
  if (user.find(':') != std::string_view::npos)
    throw std::invalid_argument("basic_auth: a user name cannot contain a colon");
  std::string both(user);
  both.append(":").append(password);
  authorize("Basic", encode_base64(both));
}

std::string request_text::whole_url() const {
  return target.empty() ? std::string(url.without_fragment()) : std::string(url.origin()) + target;
}

bool request_text::is_idempotent() const noexcept {
  if (has_idempotency_key) return true;
  for (const std::string_view each : {"GET", "HEAD", "PUT", "DELETE", "OPTIONS", "TRACE"})
    if (method == each) return true;
  return false;
}

// The parts were checked when they were set.
void request_text::write_head(std::string& out, const client_fields& usual, const framing& framed) const {
  out.assign(method).append(" ", 1);
  if (framed.proxy != nullptr)
    out.append(whole_url());  // RFC 9112 §3.2.2
  else
    out.append(target.empty() ? url.target() : std::string_view(target));
  out.append(" HTTP/1.1\r\n");
  if (!has_host) append_line(out, "Host", url.authority());
  if (!has_user_agent && !has_accept && framed.asks_for_codings) {
    out.append(usual.all);
  } else {
    if (!has_user_agent) out.append(usual.user_agent);
    if (!has_accept) out.append(usual.accept);
    if (framed.asks_for_codings) out.append(usual.codings);
  }
  if (!has_authorization && (!url.user().empty() || !url.password().empty()))
    append_line(out, "Authorization", basic_value(url.user(), url.password()));
  if (framed.proxy != nullptr && !framed.proxy->user().empty())
    append_line(out, "Proxy-Authorization", basic_value(framed.proxy->user(), framed.proxy->password()));
  if (!framed.cookies.empty()) head_writer(out).field("Cookie", framed.cookies);
  out.append(fields);
  if (!framed.length)
    append_line(out, "Transfer-Encoding", "chunked");
  else if (has_body || *framed.length > 0)
    append_line(out, "Content-Length", *framed.length);
  else if (method == "POST" || method == "PUT" || method == "PATCH")
    append_line(out, "Content-Length", std::uint64_t{0});  // RFC 9110 §8.6
  if (framed.expects_continue) append_line(out, "Expect", "100-continue");
  if (takes_trailers) append_line(out, "Connection", "TE");  // RFC 9110 §10.1.4
  if (!upgrade.empty()) {
    append_line(out, "Connection", "Upgrade");
    append_line(out, "Upgrade", upgrade);
  }
  out.append("\r\n");
}

}  // namespace gyre::http
