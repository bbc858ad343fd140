// src/http/response_state.hpp: what is behind a response, and used again for the next one.
#pragma once

#include <gyre/fs/file.hpp>
#include <gyre/http/response.hpp>
#include <gyre/io/owned_fd.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace gyre::http {

enum class body_source : std::uint8_t { none, value, borrowed, file, producer, protocol };

struct response_state {
  int status = 200;
  body_source source = body_source::none;
  bool close_connection = false;
  bool ends_by_itself = false;  // made of a file: to be sent to its end, as that would be
  std::string_view media_type;  // of this, or compiled in
  std::string own_media_type;
  std::string fields;  // as they are sent: "Name: value\r\n" each
  std::string value;
  std::string_view borrowed;
  fs::file file;
  std::shared_ptr<const owned_fd> descriptor;  // of a file that has no more than this
  std::uint64_t file_offset = 0;
  std::optional<std::uint64_t> length;  // of a file, or as announced
  body_producer* producer = nullptr;
  protocol_handler* protocol = nullptr;
  response_state* next_free = nullptr;

  response_state() = default;
  response_state(const response_state&) = delete;
  response_state& operator=(const response_state&) = delete;
  ~response_state() { clear(); }

  void clear() noexcept;
  void drop_body() noexcept;
  /// The body when it is in memory.
  [[nodiscard]] std::string_view bytes() const noexcept {
    return source == body_source::value ? std::string_view(value) : borrowed;
  }

  [[nodiscard]] int file_descriptor() const noexcept {
    return descriptor ? descriptor->get() : file.native_descriptor();
  }

  static response_state& make();
  static void recycle(response_state& state) noexcept;
};

/// Of such lines the first with that name, with its end; empty when there is none.
[[nodiscard]] std::string_view find_line(std::string_view fields, std::string_view name) noexcept;

}  // namespace gyre::http
