// src/http/response_head.hpp: the head of a response as bytes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace gyre::http {

struct response_state;

enum class connection_field : std::uint8_t { none, close, keep_alive };

struct response_head {
  int status;
  std::string_view common_fields;  // lines
  std::string_view media_type;
  std::string_view fields;  // lines
  std::optional<std::uint64_t> length;
  bool chunked = false;
  connection_field connection = connection_field::none;
  bool upgrade = false;   // there is such a field
  std::string_view body;  // what comes right behind it
};

void append_head(std::string& out, const response_head& head);
/// Before a chunk of `size` bytes, which is not 0.
void append_chunk_size(std::string& out, std::uint64_t size);

}  // namespace gyre::http
