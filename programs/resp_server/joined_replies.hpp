// programs/resp_server/joined_replies.hpp: reads the replies of shards, which are parts of one reply.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace resp {

// The replies are those of this server's own commands, so they are well-formed.

/// The number in ":12\r\n", or in the first line of an array or a bulk string.
[[nodiscard]] inline std::int64_t number_in(std::string_view reply) noexcept {
  std::int64_t number = 0;
  const bool negative = reply[1] == '-';
  for (std::size_t i = negative ? 2 : 1; reply[i] != '\r'; ++i) number = number * 10 + (reply[i] - '0');
  return negative ? -number : number;
}

/// Removes "*2\r\n" from the front, and returns the number of elements.
[[nodiscard]] inline std::int64_t take_array_header(std::string_view& array) noexcept {
  const std::int64_t elements = number_in(array);
  array.remove_prefix(array.find('\n') + 1);
  return elements;
}

/// Removes a bulk string, or a null, from the front, and returns it.
[[nodiscard]] inline std::string_view take_bulk(std::string_view& bulks) noexcept {
  const std::int64_t size = number_in(bulks);
  const std::size_t header = bulks.find('\n') + 1;
  const std::string_view bulk = bulks.substr(0, size < 0 ? header : header + static_cast<std::size_t>(size) + 2);
  bulks.remove_prefix(bulk.size());
  return bulk;
}

}  // namespace resp
