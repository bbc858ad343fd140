// programs/gyre/load/response_reader.hpp: finds the ends of responses in what a connection receives.
#pragma once

#include "programs/gyre/requests/large_heads.hpp"

#include <gyre/http/body_decoder.hpp>
#include <gyre/http/head_parser.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace programs {

/// Reads one response after the other, and drops their bodies.
class response_reader {
 public:
  /// All requests have the method `method`. Lifetime: the text stays valid as long as this.
  explicit response_reader(std::string_view method) : method_(method) {}

  enum class state : std::uint8_t { more, complete, failed };

  /// Consumes received bytes, at most to the end of a response. After `complete`, status() and keep_alive() are those
  /// of the response, and the next call begins the next one.
  state take(std::string_view& bytes);
  /// The connection has ended. Returns true when that is the end of a body.
  [[nodiscard]] bool ends_here() const noexcept { return in_body_ && body_.ends_with_stream(); }
  /// True between two responses.
  [[nodiscard]] bool is_between() const noexcept { return !in_body_ && partial_.empty(); }
  /// Prepares for another connection.
  void reset() noexcept;

  [[nodiscard]] int status() const noexcept { return status_; }
  [[nodiscard]] bool keep_alive() const noexcept { return keep_alive_; }
  [[nodiscard]] gyre::http::parse_error error() const noexcept { return error_; }

 private:
  [[nodiscard]] state take_head(std::string_view& bytes);
  [[nodiscard]] state take_body(std::string_view& bytes);
  [[nodiscard]] state fail(gyre::http::parse_error error) noexcept;

  std::string_view method_;
  gyre::http::head_parser head_{gyre::http::head_parser::kind::lenient_response, large_heads};
  gyre::http::body_decoder body_{{}, true};
  std::string partial_;  // of a head that came in several pieces
  bool in_body_ = false;
  int status_ = 0;
  bool keep_alive_ = true;
  gyre::http::parse_error error_ = gyre::http::parse_error::none;
};

}  // namespace programs
