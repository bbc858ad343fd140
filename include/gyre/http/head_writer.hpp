// gyre/http/head_writer.hpp: serializes heads and chunks. RFC 9112 §3, §4, §7.1.
#pragma once

#include <gyre/attributes.hpp>
#include <gyre/http/field.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace gyre::http {

/// Appends heads and chunk framing to a buffer. Allocates nothing once the buffer has grown to its size.
///
/// Rejects text that could be understood as something else: a name that is not a token, a value with a line end.
/// Thread: one at a time.
class GYRE_API head_writer {
 public:
  explicit head_writer(std::string& out) noexcept : out_(&out) {}

  /// "HTTP/1.1 200 OK". Errors: std::invalid_argument for a status outside of 100 to 999.
  void status_line(int status);
  /// "GET /target HTTP/1.1". Errors: std::invalid_argument for an invalid method or target.
  void request_line(std::string_view method, std::string_view target);

  /// Errors: std::invalid_argument `field "A b": the name is not a token`.
  void field(std::string_view name, std::string_view value);
  void field(std::string_view name, std::uint64_t value);
  void fields(std::span<const http::field> all);
  /// The empty line after the fields.
  void end();

  /// Surround a chunk of `size` bytes, which must not be 0.
  void chunk_begin(std::size_t size);
  void chunk_end();
  /// The last chunk, followed by `trailers`.
  void last_chunk(std::span<const http::field> trailers = {});

 private:
  std::string* out_;
};

}  // namespace gyre::http
