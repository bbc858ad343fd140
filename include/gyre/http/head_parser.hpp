// gyre/http/head_parser.hpp: the start line and the fields of a message, from bytes that come in any pieces. RFC 9112 §2-5.
#pragma once

#include <gyre/attributes.hpp>
#include <gyre/http/field.hpp>
#include <gyre/http/parse_error.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace gyre::http {

struct head_limits {
  std::size_t target = 8192;  ///< bytes of a request's target; more: target_too_long
  std::size_t fields = 100;   ///< more: too_many_fields
  std::size_t size = 32'768;  ///< bytes of the whole head; more: head_too_large
};

enum class parse_state : std::uint8_t { incomplete, complete, failed };

/// Parses the heads of messages, one after the other.
///
/// Strict: what a recipient could understand in two ways is an error. A line is judged when it is there as a whole, so that
/// the result does not depend on the pieces in which bytes arrive. Only syntax: see framing for what the fields mean.
/// Nothing is copied; nothing is allocated once the list of fields has grown to what requests have.
/// Thread: one at a time.
class GYRE_API head_parser {
 public:
  enum class kind : std::uint8_t { request, response };

  explicit head_parser(kind what, const head_limits& limits = {}) : limits_(limits), kind_(what) {
    fields_.reserve(32);
  }

  /// Goes on with `bytes`: everything since the beginning of this message, which may lie elsewhere than in the call before.
  /// When complete, `size` bytes were the head; the rest is the body or the next message.
  /// Lifetime: what the views below name lies in `bytes`.
  parse_state parse(std::string_view bytes);

  /// Forgets this message.
  void reset() noexcept;

  [[nodiscard]] parse_error error() const noexcept { return error_; }

  /// A longer method is an error, method_too_long. The longest that is registered has 17 bytes.
  static constexpr std::size_t longest_method = 32;

  // Of a head that is complete.
  [[nodiscard]] std::size_t size() const noexcept { return at_; }
  [[nodiscard]] std::string_view method() const noexcept { return method_; }
  [[nodiscard]] std::string_view target() const noexcept { return target_; }
  [[nodiscard]] int status() const noexcept { return status_; }
  [[nodiscard]] std::string_view reason() const noexcept { return target_; }
  /// Of HTTP/1.x: 0 or 1; a larger one counts as 1. RFC 9110 §2.5.
  [[nodiscard]] int minor_version() const noexcept { return minor_version_; }
  [[nodiscard]] std::span<const field> fields() const noexcept { return fields_; }

 private:
  parse_state fail(parse_error error) noexcept;
  [[nodiscard]] static parse_error why_too_long(std::string_view line) noexcept;
  [[nodiscard]] bool take_usual_lines(std::string_view bytes);
  [[nodiscard]] bool parse_start_line(std::string_view line) noexcept;
  [[nodiscard]] bool parse_request_line(std::string_view line) noexcept;
  [[nodiscard]] bool parse_status_line(std::string_view line) noexcept;
  [[nodiscard]] bool parse_version(std::string_view text) noexcept;
  [[nodiscard]] bool parse_field_line(std::string_view line);
  void rebase(std::string_view bytes) noexcept;

  head_limits limits_;
  kind kind_;
  parse_error error_ = parse_error::none;
  std::int8_t minor_version_ = 1;
  bool has_start_line_ = false;
  int status_ = 0;
  const char* base_ = nullptr;  // where the message began when the views were made
  std::size_t at_ = 0;          // of the line that comes next
  std::size_t searched_ = 0;    // no line feed before
  std::string_view method_;
  std::string_view target_;  // or the reason
  std::vector<field> fields_;
};

/// Takes a field line apart, without its line end: for trailers, and whoever reads fields elsewhere.
[[nodiscard]] GYRE_API parse_error parse_field_line(std::string_view line, field& out) noexcept;

}  // namespace gyre::http
