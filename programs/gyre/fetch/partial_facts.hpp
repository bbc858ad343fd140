// programs/gyre/fetch/partial_facts.hpp: what a partial file is a part of.
#pragma once

#include <gyre/client/client_response.hpp>

#include <cstdint>
#include <optional>
#include <string>

namespace programs {

struct partial_facts {
  std::string url = {};        ///< without user name and password
  std::string validator = {};  ///< may be empty
  std::optional<std::uint64_t> total = {};

  /// Reads a file that write() has made. Nothing for any other file.
  [[nodiscard]] static std::optional<partial_facts> read(const std::string& path);
  /// Creates the file, which nobody else may read, or replaces it. Errors: output_failure.
  void write(const std::string& path) const;
};

/// A validator for If-Range: a strong entity tag, or else a date that is strong. Empty when there is none. A date of
/// the last minute before the response identifies nothing, because the file may have changed again within its second.
/// RFC 9110 §8.8.2.2, §13.1.5.
[[nodiscard]] std::string strong_validator_of(const gyre::http::client_response& response);

}  // namespace programs
