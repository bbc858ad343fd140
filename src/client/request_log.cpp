// src/client/request_log.cpp: a record as a line.
#include <gyre/client/request_log.hpp>

#include <gyre/io/printable.hpp>

#include <string>

namespace gyre::http {

std::string request_record::string() const {
  constexpr std::int64_t tenth = 100'000;  // of a millisecond
  const std::int64_t tenths = (time.count() + tenth / 2) / tenth;
  std::string line(method);
  line.append(" ").append(printable(url)).append(" ");
  line += status != 0 ? std::to_string(status) : "failed";
  line.append(" ").append(std::to_string(tenths / 10)).append(".").append(std::to_string(tenths % 10)).append(" ms");
  if (!failure.empty()) line.append(": ").append(printable(failure));
  return line;
}

}  // namespace gyre::http
