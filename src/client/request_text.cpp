// src/client/request_text.cpp: fields of the program, and those that the client adds.
#include "request_text.hpp"

#include <gyre/http/authentication.hpp>
#include <gyre/http/head_parser.hpp>
#include <gyre/http/head_writer.hpp>
#include <gyre/io/printable.hpp>

#include <algorithm>
#include <stdexcept>

namespace gyre::http {
namespace {

// They decide where a message ends, or concern one connection only.
constexpr std::string_view own_fields[] = {"Content-Length",   "Transfer-Encoding",  "Expect", "Upgrade", "Keep-Alive",
                                           "Proxy-Connection", "Proxy-Authorization"};

}  // namespace

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
  method.assign(name);
}

void request_text::set_target(std::string_view text) {
  const auto may_stand = [](unsigned char c) { return c > 0x20 && c < 0x7f && c != '#'; };
  if (!text.starts_with('/') || !std::ranges::all_of(text, may_stand))
    throw std::invalid_argument("target \"" + printable(text) +
                                "\": it does not begin with a slash, or holds what must be encoded");
  target.assign(text);
}

void request_text::add_field(std::string_view name, std::string_view value) {
  const auto is = [name](std::string_view other) {
    return name.size() == other.size() && equal_ignoring_case(name, other);  // few sizes are equal
  };
  for (const std::string_view each : own_fields)
    if (is(each))
      throw std::invalid_argument("field \"" + std::string(each) +
                                  "\": the client sets it itself; see body(), expect_continue(), upgrade() and "
                                  "client_options");
  if (is("Connection")) {
    if (!equal_ignoring_case(value, "close"))
      throw std::invalid_argument("field \"Connection\": only \"close\" can be asked for");
    closes = true;
  }
  if (is("TE")) {
    if (!equal_ignoring_case(value, "trailers"))
      throw std::invalid_argument("field \"TE\": only \"trailers\" can be asked for");
    if (takes_trailers) return;
  }
  const std::size_t before = fields.size();
  if (is("Host") && has_host) remove_field(name);
  try {
    head_writer(fields).field(name, value);
  } catch (...) {
    fields.resize(before);
    throw;
  }
  has_host = has_host || is("Host");
  has_user_agent = has_user_agent || is("User-Agent");
  has_accept = has_accept || is("Accept");
  has_authorization = has_authorization || is("Authorization");
  has_accept_encoding = has_accept_encoding || is("Accept-Encoding");
  has_range = has_range || is("Range");
  has_cookie = has_cookie || is("Cookie");
  takes_trailers = takes_trailers || is("TE");
  has_content_type = has_content_type || is("Content-Type");
  has_idempotency_key = has_idempotency_key || is("Idempotency-Key") || is("X-Idempotency-Key");
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

void request_text::write_head(std::string& out, std::string_view user_agent, const framing& framed) const {
  out.clear();
  head_writer writer(out);
  if (framed.proxy != nullptr)
    writer.request_line(method, whole_url());  // RFC 9112 §3.2.2
  else
    writer.request_line(method, target.empty() ? url.target() : std::string_view(target));
  if (!has_host) writer.field("Host", url.authority());
  if (!has_user_agent && !user_agent.empty()) writer.field("User-Agent", user_agent);
  if (!has_accept && !framed.accept.empty()) writer.field("Accept", framed.accept);
  if (!framed.codings.empty()) writer.field("Accept-Encoding", framed.codings);
  if (!has_authorization && (!url.user().empty() || !url.password().empty())) {
    std::string both(url.user());
    both.append(":").append(url.password());
    writer.field("Authorization", "Basic " + encode_base64(both));
  }
  if (framed.proxy != nullptr && !framed.proxy->user().empty())
    writer.field("Proxy-Authorization",
                 "Basic " + encode_base64(framed.proxy->user() + ":" + framed.proxy->password()));
  if (!framed.cookies.empty()) writer.field("Cookie", framed.cookies);
  out += fields;
  if (!framed.length)
    writer.field("Transfer-Encoding", "chunked");
  else if (has_body || *framed.length > 0)
    writer.field("Content-Length", *framed.length);
  else if (method == "POST" || method == "PUT" || method == "PATCH")
    writer.field("Content-Length", std::uint64_t{0});  // RFC 9110 §8.6
  if (framed.expects_continue) writer.field("Expect", "100-continue");
  if (takes_trailers) writer.field("Connection", "TE");  // RFC 9110 §10.1.4
  if (!upgrade.empty()) {
    writer.field("Connection", "Upgrade");
    writer.field("Upgrade", upgrade);
  }
  writer.end();
}

}  // namespace gyre::http
