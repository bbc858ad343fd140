// src/http/exchange/response_state.hpp: the data of a response, recycled for later responses.
#pragma once

#include <gyre/fs/file.hpp>
#include <gyre/http/response.hpp>
#include <gyre/io/owned_fd.hpp>

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace gyre::http {

enum class body_origin : std::uint8_t { none, value, borrowed, file, producer, protocol };

/// The fields in lines of "Name: value\r\n". Lifetime: the text must outlive it.
class field_lines {
 public:
  explicit field_lines(std::string_view text) noexcept : rest_(text) { advance(); }
  [[nodiscard]] field_lines begin() const noexcept { return *this; }
  [[nodiscard]] static std::default_sentinel_t end() noexcept { return {}; }
  [[nodiscard]] const field& operator*() const noexcept { return now_; }
  field_lines& operator++() noexcept {
    advance();
    return *this;
  }
  friend bool operator==(const field_lines& at, std::default_sentinel_t) noexcept { return at.now_.name.empty(); }

 private:
  void advance() noexcept {
    constexpr std::size_t separator = 2;  // as is the size of a line end
    const std::size_t size = rest_.find('\n') + 1;
    const std::string_view line = rest_.substr(0, size);
    rest_.remove_prefix(size);
    now_.name = line.substr(0, line.find(':'));
    now_.value = line.empty() ? line : line.substr(now_.name.size() + separator);
    now_.value.remove_suffix(line.empty() ? 0 : separator);
  }

  std::string_view rest_;
  field now_;
};

struct response_state {
  int status = 200;
  body_origin source = body_origin::none;
  bool close_connection = false;
  bool ends_by_itself = false;  // a producer that sends a file: runs to its end like a body of source `file`
  std::string_view media_type;  // refers to own_media_type or a string literal
  std::string own_media_type;
  std::string fields;  // formatted: "Name: value\r\n" each
  std::string value;
  std::string_view borrowed;
  fs::file file;
  std::shared_ptr<const owned_fd> descriptor;  // used instead of `file` when there is only a descriptor
  std::uint64_t file_offset = 0;
  std::optional<std::uint64_t> length;  // of the file, or as announced
  body_producer* producer = nullptr;
  protocol_handler* protocol = nullptr;
  response_state* next_free = nullptr;

  response_state() = default;
  response_state& operator=(response_state&&) = delete;
  ~response_state() { clear(); }

  void clear() noexcept;
  void drop_body() noexcept {
    if (source > body_origin::borrowed) close_body();  // most bodies have nothing to close
    source = body_origin::none;
    length.reset();
    ends_by_itself = false;
  }
  [[nodiscard]] field_lines all_fields() const noexcept { return field_lines(fields); }
  [[nodiscard]] bool is_in_memory() const noexcept {
    return source == body_origin::value || source == body_origin::borrowed;
  }
  /// The body, if it is in memory.
  [[nodiscard]] std::string_view bytes() const noexcept {
    return source == body_origin::value ? std::string_view(value) : borrowed;
  }

  [[nodiscard]] int file_descriptor() const noexcept {
    return descriptor ? descriptor->get() : file.native_descriptor();
  }

  static response_state& make();
  static void recycle(response_state& state) noexcept;

 private:
  void close_body() noexcept;
};

/// Returns the first of these lines with that name, including its line end, or an empty view.
[[nodiscard]] std::string_view find_line(std::string_view fields, std::string_view name) noexcept;

}  // namespace gyre::http
