// src/http/http1/head_writer.cpp: appends fields after checking them.
#include <gyre/http/field_line.hpp>
#include <gyre/http/head_writer.hpp>
#include <gyre/http/status.hpp>

#include "semantics/characters.hpp"

#include <charconv>
#include <stdexcept>

namespace gyre::http {
namespace {

constexpr std::string_view line_end = "\r\n";

[[noreturn]] void refuse(const char* what, std::string_view text, const char* why) {
  throw std::invalid_argument(std::string(what) + " \"" + std::string(text) + "\": " + why);
}

}  // namespace

void head_writer::status_line(int status) {
  if (status < 100 || status > 999) refuse("status", std::to_string(status), "it has three digits");
  char digits[3] = {static_cast<char>('0' + status / 100), static_cast<char>('0' + status / 10 % 10),
                    static_cast<char>('0' + status % 10)};
  out_->append("HTTP/1.1 ").append(digits, 3).append(" ").append(reason_phrase(status)).append(line_end);
}

void head_writer::request_line(std::string_view method, std::string_view target) {
  if (!is_token(method)) refuse("method", method, "it is not a token");
  if (target.empty() || !is_target(target)) refuse("target", target, "it holds what must be encoded, or nothing");
  out_->append(method).append(" ").append(target).append(" HTTP/1.1\r\n");
}

void head_writer::field(std::string_view name, std::string_view value) { append_field_line(*out_, name, value); }

void head_writer::field(std::string_view name, std::uint64_t value) {
  char digits[20];
  const auto end = std::to_chars(digits, digits + sizeof(digits), value).ptr;
  field(name, std::string_view(digits, static_cast<std::size_t>(end - digits)));
}

void head_writer::fields(std::span<const http::field> all) {
  for (const http::field& each : all) field(each.name, each.value);
}

void head_writer::end() { out_->append(line_end); }

void head_writer::chunk_begin(std::size_t size) {
  if (size == 0) refuse("chunk", "0", "an empty one would be the last");
  char digits[16];
  const auto end = std::to_chars(digits, digits + sizeof(digits), size, 16).ptr;
  out_->append(digits, static_cast<std::size_t>(end - digits)).append(line_end);
}

void head_writer::chunk_end() { out_->append(line_end); }

void head_writer::last_chunk(std::span<const http::field> trailers) {
  out_->append("0\r\n");
  fields(trailers);
  out_->append(line_end);
}

}  // namespace gyre::http
