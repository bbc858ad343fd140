// src/client/decoded_body.hpp: decompresses the body of a response, with limits: a few bytes may expand to gigabytes.
#pragma once

#include <gyre/client/client_error.hpp>
#include <gyre/client/client_options.hpp>
#include <gyre/http/field.hpp>

#include "content_decoder.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace gyre::http {

class decoded_body {
 public:
  explicit decoded_body(const client_limits& limits) noexcept : limits_(limits) {}

  /// The body is read as it was sent.
  void end() noexcept {
    decoder_.reset();
    failed_.reset();
  }
  /// Decodes the coding that these fields name, if it is the only one, and known. Another coding is the program's.
  void begin(std::span<const field> fields);
  /// False for a body that is read as it was sent.
  [[nodiscard]] explicit operator bool() const noexcept { return decoder_ != nullptr; }

  /// Removes and returns decoded bytes. Empty when it needs input, at the end, and once it has failed. `received` bytes
  /// of the encoded body have come so far.
  [[nodiscard]] std::string_view take(std::size_t max, std::uint64_t received);
  /// The next encoded bytes; none at the end of the body. Lifetime: until take() returns nothing.
  void feed(std::string_view encoded, std::uint64_t received);
  /// True when everything has been taken.
  [[nodiscard]] bool at_end() const noexcept { return at_end_; }
  [[nodiscard]] bool has_failed() const noexcept { return failed_.has_value(); }
  struct failure {
    client_errc reason;
    std::string detail;
  };
  /// Why it has failed. The detail is told once.
  [[nodiscard]] failure take_failure();
  /// Decoded bytes that were taken.
  [[nodiscard]] std::uint64_t taken() const noexcept { return produced_ - decoded_.size(); }

 private:
  void fail(client_errc reason, std::string detail = {}) { failed_ = failure{reason, std::move(detail)}; }

  const client_limits& limits_;
  std::unique_ptr<content_decoder> decoder_;
  std::unique_ptr<char[]> memory_;
  std::string_view encoded_;  // not decoded yet
  std::string_view decoded_;  // not taken yet
  std::uint64_t produced_ = 0;
  std::optional<failure> failed_;
  bool at_end_ = false;
};

}  // namespace gyre::http
