// src/http/http1_connection/response_sender.cpp: the fields that frame a response. RFC 9112 §6.
#include <gyre/http/characters.hpp>
#include <gyre/http/field.hpp>

#include "response_sender.hpp"

namespace gyre::http {
namespace {

// The fields of a response that replace those of the server, or have a meaning for the connection.
struct own_lines {
  bool date = false;
  bool server = false;
  bool keep_alive = false;
  bool upgrade = false;
  [[nodiscard]] bool any() const noexcept { return date || server || keep_alive || upgrade; }
};

bool begins_with_name(std::string_view lines, std::string_view name) noexcept {
  return lines.size() > name.size() && lines[name.size()] == ':' &&
         equal_ignoring_case(lines.substr(0, name.size()), name);
}

// Few lines begin with one of the letters.
own_lines own_lines_of(std::string_view lines) noexcept {
  own_lines own;
  for (; !lines.empty(); lines.remove_prefix(lines.find('\n') + 1)) {
    switch (to_lower(lines.front())) {
      case 'd':
        own.date = own.date || begins_with_name(lines, "Date");
        break;
      case 's':
        own.server = own.server || begins_with_name(lines, "Server");
        break;
      case 'k':
        own.keep_alive = own.keep_alive || begins_with_name(lines, "Keep-Alive");
        break;
      case 'u':
        own.upgrade = own.upgrade || begins_with_name(lines, "Upgrade");
        break;
      default:
        break;
    }
  }
  return own;
}

void choose_lines(response_head& head, const sending& how, const own_lines& own, bool takes_over) noexcept {
  const std::string_view date = own.date ? std::string_view() : how.lines.date;
  const std::string_view server = own.server ? std::string_view() : how.lines.server;
  head.common_fields = date.empty() ? server : std::string_view(date.data(), date.size() + server.size());
  if (takes_over) return;
  if (!how.close && !own.keep_alive) head.keep_alive = how.lines.keep_alive;
  if (how.close)
    head.connection = connection_field::close;
  else if (how.http_1_0 || own.keep_alive || !head.keep_alive.empty())
    head.connection = connection_field::keep_alive;  // also names that field: RFC 9110 §7.6.1
}

}  // namespace

bool append_usual_head(std::string& out, const response_state& r, const response_plan& plan,
                       const server_lines& lines) {
  if (own_lines_of(r.fields).any()) return false;
  append_head(out, {.status = r.status,
                    .common_fields = lines.all,
                    .media_type = r.media_type,
                    .fields = r.fields,
                    .length = plan.length,
                    .body = plan.has_body && r.is_in_memory() ? r.bytes() : std::string_view()});
  return true;
}

exchange_link::begun response_sender::begin() {
  if (plan_.is_open && how_.http_1_0) how_.close = true;  // RFC 9112 §6.3: the body ends with the connection
  response_head head{.status = response_.status,
                     .common_fields = {},
                     .media_type = response_.media_type,
                     .fields = response_.fields,
                     .length = plan_.length,
                     .chunked = is_chunked(),
                     .body = {}};
  const bool takes_over = response_.source == body_origin::protocol;
  const own_lines own = own_lines_of(response_.fields);
  const bool is_usual = !own.any() && !takes_over && !how_.close && !how_.http_1_0;
  if (is_usual)
    head.common_fields = how_.lines.all;
  else
    choose_lines(head, how_, own, takes_over);
  head.upgrade = own.upgrade;  // requires Connection: upgrade, RFC 9110 §7.8
  const bool is_held = plan_.has_body && response_.source == body_origin::producer;
  bool has_all = !plan_.has_body;
  if (plan_.has_body && response_.is_in_memory() && response_.bytes().size() <= message_output::max_gathered) {
    head.body = response_.bytes();
    has_all = true;
  }
  if (is_held) response_.value.clear();
  append_head(is_held ? response_.value : output_.buffer(), head);
  if (!has_all) return exchange_link::begun::head;
  const bool goes_on = output_.settle(upcoming::more_output) && !how_.close;
  return goes_on ? exchange_link::begun::all : exchange_link::begun::all_waiting;
}

}  // namespace gyre::http
