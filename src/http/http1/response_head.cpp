// src/http/http1/response_head.cpp: formats the head in one pass, into memory that is already allocated.
#include <gyre/http/status.hpp>

#include "response_head.hpp"

#include <algorithm>
#include <charconv>
#include <cstddef>

namespace gyre::http {
namespace {

// Appends to memory whose size was computed before.
class cursor {
 public:
  explicit cursor(char* at) noexcept : at_(at) {}
  void put(std::string_view text) noexcept { at_ = std::copy(text.begin(), text.end(), at_); }
  void put(std::uint64_t number) noexcept { at_ = std::to_chars(at_, at_ + 20, number).ptr; }
  [[nodiscard]] char* at() const noexcept { return at_; }

 private:
  char* at_;
};

constexpr std::string_view connection_line(connection_field which, bool upgrade) noexcept {
  switch (which) {
    case connection_field::none:
      break;
    case connection_field::close:
      return upgrade ? "Connection: close, Upgrade\r\n" : "Connection: close\r\n";
    case connection_field::keep_alive:
      return upgrade ? "Connection: keep-alive, Upgrade\r\n" : "Connection: keep-alive\r\n";
  }
  return upgrade ? "Connection: Upgrade\r\n" : "";
}

}  // namespace

void append_head(std::string& out, const response_head& head) {
  constexpr std::size_t fixed = 192;  // more than the sum of all parts with a maximum size
  const std::string_view reason = head.status == 200 ? std::string_view() : reason_phrase(head.status);
  const std::size_t before = out.size();
  const std::size_t max_size = before + fixed + reason.size() + head.common_fields.size() + head.media_type.size() +
                               head.fields.size() + head.keep_alive.size() + head.body.size();
  out.resize_and_overwrite(max_size, [&](char* memory, std::size_t) noexcept {
    cursor to(memory + before);
    if (head.status == 200) {
      to.put("HTTP/1.1 200 OK\r\n");
    } else {
      to.put("HTTP/1.1 ");
      to.put(static_cast<std::uint64_t>(head.status));
      to.put(" ");
      to.put(reason);
      to.put("\r\n");
    }
    to.put(head.common_fields);
    if (!head.media_type.empty()) {
      to.put("Content-Type: ");
      to.put(head.media_type);
      to.put("\r\n");
    }
    to.put(head.fields);
    if (head.length) {
      to.put("Content-Length: ");
      to.put(*head.length);
      to.put("\r\n");
    }
    if (head.chunked) to.put("Transfer-Encoding: chunked\r\n");
    to.put(connection_line(head.connection, head.upgrade));
    to.put(head.keep_alive);
    to.put("\r\n");
    to.put(head.body);
    return static_cast<std::size_t>(to.at() - memory);
  });
}

void append_chunk_size(std::string& out, std::uint64_t size) {
  char digits[16];
  const auto end = std::to_chars(digits, digits + sizeof(digits), size, 16).ptr;
  out.append(digits, static_cast<std::size_t>(end - digits)).append("\r\n");
}

}  // namespace gyre::http
