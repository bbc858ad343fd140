// src/http/middleware/log_line.hpp: formats an answered request as a line of text.
#pragma once

#include <gyre/http/access_log.hpp>

#include <ctime>
#include <string>
#include <string_view>

namespace gyre::http {

/// Writes lines. The formatted time is reused within the same second.
class line_writer {
 public:
  line_writer(log_format format, std::size_t max_value_size) noexcept : format_(format), max_size_(max_value_size) {}

  void append(std::string& out, const exchange& what, timespec when);
  void append_lost(std::string& out, std::uint64_t lines, timespec when);

 private:
  void append_combined(std::string& out, const exchange& what);
  void append_json(std::string& out, const exchange& what, timespec when);
  void append_member(std::string& out, std::string_view name, std::string_view value) const;
  void append_json_time(std::string& out, timespec when);
  void set_time(std::time_t second);
  /// Lifetime: until the next call.
  [[nodiscard]] std::string_view without_user(std::string_view url);

  log_format format_;
  std::size_t max_size_;
  std::time_t second_ = -1;
  std::string time_;       // of `second_`, in the log's format
  std::string shortened_;  // a URL without its user name
};

}  // namespace gyre::http
