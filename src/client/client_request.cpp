// src/client/client_request.cpp: builds a request.
#include <gyre/client/client_middleware.hpp>
#include <gyre/client/client_request.hpp>

#include <gyre/coro/misuse.hpp>
#include <gyre/http/body_reader.hpp>
#include <gyre/http/media_type.hpp>
#include <gyre/http/target.hpp>
#include <gyre/io/random_bytes.hpp>

#include "client_exchange.hpp"

#include <stdexcept>
#include <utility>

namespace gyre::http {
namespace {

using exchange_owner = owned<client_exchange*, &client_exchange::recycle>;
constexpr const char* a_request = "a request of an http::client";

task<client_response> run(exchange_owner sent) {
  sent->begin();
  unsigned followed = 0;
  do co_await sent->run_one();
  while (sent->follow_redirects(followed++));
  co_return client_response(*sent.release());
}

// Copies the function, so that it outlives the request.
task<client_response> run_through(client_middleware function, client_request request, std::size_t index) {
  auto passing = function(std::move(request), next_sender(index + 1));
  co_return co_await std::move(passing);
}

// Names in multipart/form-data, as browsers encode them.
void append_quoted(std::string& out, std::string_view text) {
  out += '"';
  for (const char c : text)
    if (c == '"')
      out += "%22";
    else if (c == '\r')
      out += "%0D";
    else if (c == '\n')
      out += "%0A";
    else
      out += c;
  out += '"';
}

class received_body final : public request_body_source {
 public:
  explicit received_body(body_reader& from) noexcept : from_(from) {}
  GYRE_CORO_WRAPPER task<std::string_view> next() override { return from_.receive(); }
  [[nodiscard]] body_reader* passes_on() noexcept override { return &from_; }

 private:
  body_reader& from_;
};

}  // namespace

void client_request::release(client_exchange* unused) noexcept {
  unused->state().owner.check("destructor", a_request);
  unused->recycle();
}

client_exchange& client_request::open() const {
  if (!exchange_) misuse("a client_request was used after it was sent or moved from");
  return *exchange_;
}

client_request& client_request::header(std::string_view name, std::string_view value) {
  open().request.add_field(name, value);
  return *this;
}

client_request& client_request::query(std::string_view name, std::string_view value) {
  open().request.url.add_query(name, value);
  return *this;
}

client_request& client_request::target(std::string_view text) {
  open().request.set_target(text);
  return *this;
}

client_request& client_request::basic_auth(std::string_view user, std::string_view password) {
  open().request.authorize_basic(user, password);
  return *this;
}

client_request& client_request::bearer_token(std::string_view token) {
  open().request.authorize("Bearer", token);
  return *this;
}

client_request& client_request::body(std::string_view text, std::string_view media_type) {
  client_exchange& to = open();
  to.body.drop();
  to.request.set_content_type(media_type);
  to.request.body.assign(text);
  to.request.has_body = true;
  return *this;
}

client_request& client_request::body(body_reader& from, std::string_view media_type) {
  if (from.at_end()) return body(std::string_view(), media_type);
  std::optional<std::uint64_t> left = from.length();
  if (left) *left -= from.received();
  return set_source(request_body_owner(new received_body(from)), left, media_type);
}

client_request& client_request::set_source(request_body_owner source, std::optional<std::uint64_t> length,
                                           std::string_view media_type) {
  client_exchange& to = open();
  to.request.set_content_type(media_type);
  to.request.body.clear();
  to.request.has_body = true;
  to.body.source = std::move(source);
  to.body.length = length;
  return *this;
}

client_request& client_request::form(std::initializer_list<std::pair<std::string_view, std::string_view>> values) {
  std::string text;
  for (const auto& [name, value] : values) {
    if (!text.empty()) text += '&';
    text += percent_encode(name, encode_for::query);
    text += '=';
    text += percent_encode(value, encode_for::query);
  }
  return body(text, "application/x-www-form-urlencoded");
}

client_request& client_request::multipart(std::initializer_list<form_part> parts) {
  constexpr std::size_t bytes_of_boundary = 16;
  const std::string boundary = io::random_hex(bytes_of_boundary);
  std::string text;
  for (const form_part& each : parts) {
    if (!each.media_type.empty() && !is_field_value(each.media_type))
      throw std::invalid_argument("multipart: the media type of a part is no field value");
    text.append("--").append(boundary).append("\r\nContent-Disposition: form-data; name=");
    append_quoted(text, each.name);
    if (!each.file_name.empty()) {
      text += "; filename=";
      append_quoted(text, each.file_name);
    }
    const bool plain = each.file_name.empty() && each.media_type.empty();
    if (!plain)
      text.append("\r\nContent-Type: ")
          .append(each.media_type.empty() ? media_type_of(each.file_name) : each.media_type);
    text.append("\r\n\r\n").append(each.content).append("\r\n");
  }
  text.append("--").append(boundary).append("--\r\n");
  return body(text, "multipart/form-data; boundary=" + boundary);
}

client_request& client_request::expect_continue(bool wanted) noexcept {
  open().expects_continue = wanted;
  return *this;
}

client_request& client_request::full_duplex(bool wanted) noexcept {
  open().full_duplex = wanted;
  return *this;
}

client_request& client_request::upgrade(std::string_view protocols) {
  if (protocols.empty() || !is_field_value(protocols))
    throw std::invalid_argument("upgrade: expected the name of a protocol, such as \"websocket\"");
  open().request.upgrade.assign(protocols);
  return *this;
}

client_request& client_request::set_total(std::chrono::nanoseconds limit) noexcept {
  open().total = limit;
  return *this;
}

client_request& client_request::redirects(unsigned max) noexcept {
  open().max_redirects = max;
  return *this;
}

client_request& client_request::set_observer(interim_owner observer) noexcept {
  open().observer = std::move(observer);
  return *this;
}

std::string_view client_request::method() const { return open().request.method; }
const url& client_request::url() const { return open().request.url; }
bool client_request::has_header(std::string_view name) const { return open().request.has_field(name); }
std::string_view client_request::body_text() const { return open().request.body; }
bool client_request::has_streamed_body() const { return static_cast<bool>(open().body.source); }

client_request client_request::copy() const {
  client_exchange& from = open();
  from.state().owner.check("copy", a_request);
  if (from.body.source)
    throw std::logic_error("client_request::copy: its body is made while it is sent, so it has no copy");
  exchange_owner made(from.state().take_exchange());
  made->request = from.request;
  made->total = from.total;
  made->max_redirects = from.max_redirects;
  made->expects_continue = from.expects_continue;
  made->full_duplex = from.full_duplex;
  return client_request(*made.release());
}

client_response client_request::answer(int status, std::span<const field> fields, std::string_view body) && {
  exchange_owner answered(open());
  (void)exchange_.release();
  answered->answer(status, fields, body);
  return client_response(*answered.release());
}

GYRE_CORO_WRAPPER task<client_response> client_request::send() { return std::move(*this).send_after(0); }

GYRE_CORO_WRAPPER task<client_response> client_request::send_after(std::size_t functions) && {
  client_state& state = open().state();
  state.owner.expect_own("send", a_request);
  const auto& around = state.middleware;
  if (functions < around.size()) return run_through(around[functions], std::move(*this), functions);
  return run(exchange_owner(exchange_.release()));
}

}  // namespace gyre::http
