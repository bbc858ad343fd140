// src/http/middleware/log_line.cpp: writes untrusted text into lines that programs read.
#include "log_line.hpp"

#include "semantics/escape.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>

namespace gyre::http {
namespace {

constexpr std::string_view digits = "0123456789abcdef";

void append_hex(std::string& out, unsigned char byte) {
  out.append("\\x");
  out += digits[byte >> 4U];
  out += digits[byte & 15U];
}

bool is_plain(unsigned char byte) noexcept { return byte >= 0x20 && byte < 0x7f && byte != '"' && byte != '\\'; }

// Escapes as Apache does. Outside quotes a space is escaped too, because it would end the value.
void append_text(std::string& out, std::string_view value, bool quoted) {
  for (const char c : value) {
    const auto byte = static_cast<unsigned char>(c);
    if (is_plain(byte) && (quoted || c != ' ')) {
      out += c;
    } else if (c == '"' || c == '\\') {
      out.append("\\") += c;
    } else {
      append_hex(out, byte);
    }
  }
}

std::string seconds_of(std::chrono::nanoseconds duration) {
  const auto us = std::chrono::duration_cast<std::chrono::microseconds>(duration).count();
  std::array<char, 48> text;
  const int size = std::snprintf(text.data(), text.size(), "%lld.%06lld", static_cast<long long>(us / 1'000'000),
                                 static_cast<long long>(us % 1'000'000));
  return {text.data(), static_cast<std::size_t>(size)};
}

}  // namespace

// A user name and a password in a URL are a secret: RFC 9110 §4.2.4, §10.1.3.
std::string_view line_writer::without_user(std::string_view url) {
  constexpr std::string_view before_authority = "://";
  const std::size_t colon = url.find(before_authority);
  if (colon == std::string_view::npos || url.find_first_of("/?#") < colon) return url;
  const std::size_t begin = colon + before_authority.size();
  const std::size_t at = url.substr(0, url.find_first_of("/?#", begin)).rfind('@');
  if (at == std::string_view::npos || at < begin) return url;
  shortened_.assign(url.substr(0, begin)).append(url.substr(at + 1));
  return shortened_;
}

// Not strftime: the names of months must be English in every locale.
void line_writer::set_time(std::time_t second) {
  if (second == second_) return;
  constexpr const char* months[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  std::tm t{};
  ::gmtime_r(&second, &t);
  std::array<char, 80> text;
  const int size = format_ == log_format::json
                       ? std::snprintf(text.data(), text.size(), "%04d-%02d-%02dT%02d:%02d:%02d", t.tm_year + 1900,
                                       t.tm_mon + 1, t.tm_mday, t.tm_hour, t.tm_min, t.tm_sec)
                       : std::snprintf(text.data(), text.size(), "[%02d/%s/%04d:%02d:%02d:%02d +0000]", t.tm_mday,
                                       months[t.tm_mon], t.tm_year + 1900, t.tm_hour, t.tm_min, t.tm_sec);
  time_.assign(text.data(), static_cast<std::size_t>(size));
  second_ = second;
}

void line_writer::append_json_time(std::string& out, timespec when) {
  std::array<char, 8> fraction;
  std::snprintf(fraction.data(), fraction.size(), ".%03dZ", static_cast<int>(when.tv_nsec / 1'000'000));
  out.append("{\"time\":\"").append(time_).append(fraction.data()).append("\"");
}

void line_writer::append(std::string& out, const exchange& what, timespec when) {
  set_time(when.tv_sec);
  if (format_ == log_format::json)
    append_json(out, what, when);
  else
    append_combined(out, what);
}

void line_writer::append_lost(std::string& out, std::uint64_t lines, timespec when) {
  set_time(when.tv_sec);
  if (format_ == log_format::json) {
    append_json_time(out, when);
    out.append(",\"lost\":").append(std::to_string(lines)).append("}\n");
  } else {
    out.append("gyre: ").append(std::to_string(lines)).append(" lines of this log were lost ").append(time_) += '\n';
  }
}

void line_writer::append_combined(std::string& out, const exchange& what) {
  const request& r = what.request;
  const auto value = [&](std::string_view text, bool quoted) {
    if (text.empty()) text = "-";
    append_text(out, text.substr(0, max_size_), quoted);
    if (text.size() > max_size_) out.append("...");
  };
  value(r.peer().host(), false);
  out.append(" - ");
  value(r.attribute("user"), false);
  out.append(" ").append(time_).append(" \"");
  if (r.method().empty()) {
    out.append("-");
  } else {
    value(r.method(), true);
    out.append(" ");
    value(without_user(r.target()), true);
    out.append(" ").append(name_of(r.version()));
  }
  out.append("\" ").append(std::to_string(what.status)).append(" ").append(std::to_string(what.body_bytes));
  out.append(" \"");
  value(without_user(r.field("Referer")), true);
  out.append("\" \"");
  value(r.field("User-Agent"), true);
  out.append("\" ").append(seconds_of(what.duration)) += '\n';
}

void line_writer::append_member(std::string& out, std::string_view name, std::string_view value) const {
  if (value.empty()) return;
  out.append(",\"").append(name).append("\":\"");
  append_json_characters(out, value.substr(0, max_size_));
  if (value.size() > max_size_) out.append("...");
  out += '"';
}

void line_writer::append_json(std::string& out, const exchange& what, timespec when) {
  const request& r = what.request;
  append_json_time(out, when);
  append_member(out, "peer", r.peer().host());
  append_member(out, "user", r.attribute("user"));
  append_member(out, "request_id", r.attribute("request_id"));
  append_member(out, "method", r.method());
  append_member(out, "host", r.host().substr(r.host().rfind('@') + 1));
  append_member(out, "target", without_user(r.target()));
  append_member(out, "route", r.route_pattern());
  if (!r.method().empty()) append_member(out, "protocol", name_of(r.version()));
  out.append(",\"status\":").append(std::to_string(what.status));
  out.append(",\"bytes\":").append(std::to_string(what.body_bytes));
  out.append(",\"seconds\":").append(seconds_of(what.duration));
  out.append(",\"complete\":").append(what.complete ? "true" : "false");
  append_member(out, "referer", without_user(r.field("Referer")));
  append_member(out, "user_agent", r.field("User-Agent"));
  out.append("}\n");
}

}  // namespace gyre::http
