// gyre/http/head_parser.hpp: parses the start line and the fields of a message, in pieces of any size. RFC 9112 §2-5.
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

enum class parse_state : std::uint8_t { incomplete, complete, failed };

/// Parses the heads of messages, one after the other.
///
/// Strict: anything that two recipients could understand differently is an error, except for a lenient_response. A line
/// is judged once it is complete, so the result does not depend on the pieces in which bytes arrive. Checks the syntax
/// only; see framing for the meaning of the fields.
/// Copies nothing. Allocates nothing once the list of fields has grown to the size that requests have.
/// Thread: one at a time.
class GYRE_API head_parser {
 public:
  enum class kind : std::uint8_t {
    request,
    response,
    /// For user agents, and for gateways that write the head anew. Lines may end with a line feed alone, values may be
    /// folded over several lines, and Content-Length may be repeated with the same value: RFC 9112 §2.2, §5.2, §6.3.
    lenient_response,
  };

  /// Errors: std::invalid_argument for limits of 0, which refuse every message.
  explicit head_parser(kind what, const head_limits& limits = {}) : limits_(limits), kind_(what) {
    if (limits.target == 0 || limits.fields == 0 || limits.size == 0) refuse_limits();
    fields_.reserve(32);
  }

  /// Continues with `bytes`: everything since the beginning of this message. It may have moved in memory since the
  /// previous call. When complete, the first `size` bytes were the head; the rest is the body or the next message.
  /// Lifetime: the views below point into `bytes`.
  parse_state parse(std::string_view bytes);

  /// Forgets this message.
  void reset() noexcept;

  [[nodiscard]] parse_error error() const noexcept { return error_; }

  /// A longer method is the error method_too_long.
  static constexpr std::size_t max_method_size = head_limits::max_method_size;

  // Valid for a complete head.
  [[nodiscard]] std::size_t size() const noexcept { return at_; }
  [[nodiscard]] std::string_view method() const noexcept { return method_; }
  [[nodiscard]] std::string_view target() const noexcept { return target_; }
  [[nodiscard]] int status() const noexcept { return status_; }
  [[nodiscard]] std::string_view reason() const noexcept { return target_; }
  /// The minor version of HTTP/1.x, 0 or 1. A larger one counts as 1. RFC 9110 §2.5.
  [[nodiscard]] int minor_version() const noexcept { return minor_version_; }
  [[nodiscard]] std::span<const field> fields() const noexcept { return fields_; }
  /// True when a value is folded. It then contains line ends, and the owner of the bytes replaces these by spaces.
  [[nodiscard]] bool has_folded_lines() const noexcept { return has_folded_lines_; }
  [[nodiscard]] bool is_lenient() const noexcept { return kind_ == kind::lenient_response; }

 private:
  [[noreturn]] static void refuse_limits();
  parse_state fail(parse_error error) noexcept;
  [[nodiscard]] static parse_error why_too_long(std::string_view line) noexcept;
  [[nodiscard]] bool take_usual_lines(std::string_view bytes);
  parse_state parse_lines(std::string_view bytes);
  // Status lines are left to the general parser.
  [[nodiscard]] bool begins_usual_line() const noexcept { return kind_ == kind::request || has_start_line_; }
  [[nodiscard]] bool parse_start_line(std::string_view line) noexcept;
  [[nodiscard]] bool parse_request_line(std::string_view line) noexcept;
  [[nodiscard]] bool parse_status_line(std::string_view line) noexcept;
  [[nodiscard]] bool parse_version(std::string_view text) noexcept;
  [[nodiscard]] bool parse_field_line(std::string_view line);
  [[nodiscard]] bool continue_value(std::string_view line) noexcept;
  void rebase(std::string_view bytes) noexcept;

  head_limits limits_;
  kind kind_;
  parse_error error_ = parse_error::none;
  std::int8_t minor_version_ = 1;
  bool has_start_line_ = false;
  bool has_folded_lines_ = false;
  int status_ = 0;
  const char* base_ = nullptr;  // beginning of the message when the views were made
  std::size_t at_ = 0;          // offset of the next line
  std::size_t searched_ = 0;    // no line feed before this offset
  std::string_view method_;
  std::string_view target_;  // or the reason
  std::vector<field> fields_;
};

}  // namespace gyre::http
