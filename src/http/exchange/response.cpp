// src/http/exchange/response.cpp: building responses, in memory recycled from earlier ones.
#include <gyre/coro/misuse.hpp>
#include <gyre/http/field_line.hpp>
#include <gyre/http/status.hpp>
#include <gyre/http/target.hpp>

#include "response_state.hpp"

#include <memory>
#include <stdexcept>
#include <utility>

namespace gyre::http {
namespace {

constexpr std::string_view plain_text = "text/plain; charset=utf-8";
constexpr std::string_view html_text = "text/html; charset=utf-8";
constexpr std::string_view json_text = "application/json";

// One per thread. The states that a thread still has are freed when it ends.
struct free_states {
  static constexpr std::size_t max_kept = 256;
  response_state* first = nullptr;
  std::size_t count = 0;
  ~free_states() {
    while (first != nullptr) delete std::exchange(first, first->next_free);
    count = max_kept;  // states destroyed later are not kept
  }
};
thread_local free_states free_list;

void check_status(int status) {
  if (status < 200 || status > 999)
    throw std::invalid_argument("response: status " + std::to_string(status) + " is not between 200 and 999");
}

// Content-Type has its own member. Fields that frame messages are not for handlers: two lengths in
// one head enable request smuggling.
bool is_media_type(std::string_view name) {
  for (const std::string_view own : {"Connection", "Content-Length", "Transfer-Encoding"})
    if (name.size() == own.size() && equal_ignoring_case(name, own))
      throw std::invalid_argument("response: the field \"" + std::string(name) + "\" is set by the server");
  constexpr std::string_view content_type = "Content-Type";
  return name.size() == content_type.size() && equal_ignoring_case(name, content_type);
}

// `type` must be a string literal.
response with_value(std::string_view body, std::string_view type) {
  response made;
  made.state().source = body_origin::value;
  made.state().value.append(body);  // it is empty, and assign() would cost more
  made.state().media_type = type;
  return made;
}
response with_value(std::string&& body, std::string_view type) {
  response made;
  made.state().source = body_origin::value;
  made.state().value = std::move(body);
  made.state().media_type = type;
  return made;
}

}  // namespace

std::string_view find_line(std::string_view fields, std::string_view name) noexcept {
  while (!fields.empty()) {
    const std::size_t size = fields.find('\n') + 1;
    if (fields.size() > name.size() && fields[name.size()] == ':' &&
        equal_ignoring_case(fields.substr(0, name.size()), name))
      return fields.substr(0, size);
    fields.remove_prefix(size);
  }
  return {};
}

void response_state::clear() noexcept {
  constexpr std::size_t kept = 4096;
  for (std::string* const each : {&own_media_type, &fields, &value}) {
    each->clear();
    if (each->capacity() > kept) std::string().swap(*each);
  }
  media_type = {};
  status = 200;
  close_connection = false;
  drop_body();
}

// Only the source's own members are reset.
void response_state::close_body() noexcept {
  switch (source) {
    case body_origin::none:
    case body_origin::value:
    case body_origin::borrowed:
      break;
    case body_origin::file:
      file = fs::file();
      descriptor.reset();
      break;
    case body_origin::producer:
      delete std::exchange(producer, nullptr);
      break;
    case body_origin::protocol:
      delete std::exchange(protocol, nullptr);
      break;
  }
}

response_state& response_state::make() {
  if (free_list.first == nullptr) return *new response_state;
  response_state& state = *free_list.first;
  free_list.first = state.next_free;
  --free_list.count;
  return state;
}

void response_state::recycle(response_state& state) noexcept {
  if (free_list.count >= free_states::max_kept) {
    delete &state;
    return;
  }
  state.clear();
  state.next_free = std::exchange(free_list.first, &state);
  ++free_list.count;
}

response::response(int status) : state_((check_status(status), &response_state::make())) { state_->status = status; }
void response::stop_for_moved() noexcept {
  misuse("an http::response was used that was moved from: use the response that it was moved to, or make a new one");
}
void response::recycle(response_state* state) noexcept { response_state::recycle(*state); }

response response::text(std::string_view body) { return with_value(body, plain_text); }
response response::text(std::string&& body) { return with_value(std::move(body), plain_text); }
response response::html(std::string_view body) { return with_value(body, html_text); }
response response::html(std::string&& body) { return with_value(std::move(body), html_text); }
response response::json(std::string_view body) { return with_value(body, json_text); }
response response::json(std::string&& body) { return with_value(std::move(body), json_text); }

response response::bytes(std::string&& body, std::string_view media_type) {
  response made = with_value(std::move(body), {});
  made.set_media_type(media_type);
  return made;
}

response response::borrowed(std::string_view body, std::string_view media_type) {
  response made;
  made.state_->source = body_origin::borrowed;
  made.state_->borrowed = body;
  made.set_media_type(media_type);
  return made;
}

response response::redirect(std::string_view location, int status) {
  return response::error(status).add_field("Location", encode_reference(location));
}

response response::error(int status, std::string_view message) {
  check_status(status);
  if (is_bodyless(status)) return response(status);
  response made = with_value(message.empty() ? reason_phrase(status) : message, plain_text);
  made.state_->status = status;
  made.state_->value += '\n';
  return made;
}

namespace {
response with_file(std::uint64_t offset, std::uint64_t length, std::string_view media_type) {
  response made;
  made.set_media_type(media_type);
  made.state().source = body_origin::file;
  made.state().file_offset = offset;
  made.state().length = length;
  return made;
}
}  // namespace

response response::file(fs::file file, std::uint64_t offset, std::uint64_t length, std::string_view media_type) {
  response made = with_file(offset, length, media_type);
  made.state_->file = std::move(file);
  return made;
}

response response::file(owned_fd file, std::uint64_t offset, std::uint64_t length, std::string_view media_type) {
  response made = with_file(offset, length, media_type);
  made.state_->descriptor = std::make_shared<owned_fd>(std::move(file));
  return made;
}

response response::produced(body_producer* producer, std::string_view media_type) {
  std::unique_ptr<body_producer> unless_taken(producer);
  response made;
  made.state_->source = body_origin::producer;
  made.state_->producer = unless_taken.release();
  made.set_media_type(media_type);
  return made;
}

response response::switched(std::string_view protocol, protocol_handler* handler) {
  std::unique_ptr<protocol_handler> unless_taken(handler);
  response made;
  made.state_->source = body_origin::protocol;
  made.state_->protocol = unless_taken.release();
  made.state_->status = 101;
  if (!protocol.empty()) made.add_field("Upgrade", protocol);
  return made;
}

int response::status() const noexcept { return state().status; }

response& response::set_status(int status) & {
  check_status(status);
  state().status = status;
  return *this;
}

response& response::add_field(std::string_view name, std::string_view value) & {
  if (is_media_type(name)) {
    set_media_type(value);
    return *this;
  }
  for (const std::string_view single : {"Date", "Server", "Keep-Alive"})  // a message has one
    if (name.size() == single.size() && equal_ignoring_case(name, single)) return set_field(name, value);
  append_field_line(state().fields, name, value);
  return *this;
}

response& response::set_field(std::string_view name, std::string_view value) & {
  if (is_media_type(name)) return add_field(name, value);
  if (find_line(state().fields, name).empty()) {
    append_field_line(state().fields, name, value);
    return *this;
  }
  std::string line;
  append_field_line(line, name, value);  // first: a refused field changes nothing
  remove_field(name);
  state().fields.append(line);
  return *this;
}

void response::remove_field(std::string_view name) noexcept {
  if (equal_ignoring_case(name, "content-type")) state().media_type = {};
  std::string& fields = state().fields;
  for (;;) {
    const std::string_view line = find_line(fields, name);
    if (line.empty()) return;
    fields.erase(static_cast<std::size_t>(line.data() - fields.data()), line.size());
  }
}

std::optional<std::string_view> response::field(std::string_view name) const noexcept {
  if (equal_ignoring_case(name, "content-type") && !state().media_type.empty()) return state().media_type;
  const std::string_view line = find_line(state().fields, name);
  if (line.empty()) return std::nullopt;
  return line.substr(name.size() + 2, line.size() - name.size() - 4);
}

std::string_view response::media_type() const noexcept { return state().media_type; }

void response::set_media_type(std::string_view type) & {
  if (!is_field_value(type)) throw std::invalid_argument("response: the media type holds a control character");
  state().media_type = type.empty() ? type : state().own_media_type.assign(type);
}

void response::set_length(std::uint64_t bytes) & noexcept { state().length = bytes; }

void response::close_connection() & noexcept { state().close_connection = true; }

std::optional<std::uint64_t> response::length() const noexcept {
  if (state().source == body_origin::value || state().source == body_origin::borrowed) return state().bytes().size();
  if (state().source == body_origin::none) return 0;
  return state().length;
}

std::optional<std::string_view> response::body() const noexcept {
  if (state().source == body_origin::value || state().source == body_origin::borrowed) return state().bytes();
  return std::nullopt;
}

void response::set_body(std::string&& body) & {
  state().drop_body();
  state().source = body_origin::value;
  state().value = std::move(body);
}

body_producer* response::release_producer() noexcept { return std::exchange(state().producer, nullptr); }

void response::set_producer(body_producer* producer) & noexcept {
  state().drop_body();
  state().source = body_origin::producer;
  state().producer = producer;
}

}  // namespace gyre::http
