// src/http/http1/response_head.hpp: formats the head of a response.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace gyre::http {

enum class connection_field : std::uint8_t { none, close, keep_alive };

/// Complete lines that a server adds to its responses. Each may be empty.
struct server_lines {
  std::string_view date = {};
  std::string_view server = {};  // directly after the date
  std::string_view keep_alive = {};
  std::string_view all = {};  // of a usual response: these, and the Connection field that goes with the last one
};

struct response_head {
  int status;
  std::string_view common_fields;  // complete lines
  std::string_view media_type;
  std::string_view fields;  // complete lines
  std::optional<std::uint64_t> length;
  bool chunked = false;
  connection_field connection = connection_field::none;
  std::string_view keep_alive = {};  // a complete line
  bool upgrade = false;              // the response has an Upgrade field
  std::string_view body = {};        // appended directly after the head
};

void append_head(std::string& out, const response_head& head);
/// Appends the size line of a chunk. `size` must not be 0.
void append_chunk_size(std::string& out, std::uint64_t size);

}  // namespace gyre::http
