// gyre/http/byte_range.hpp: the bytes of a representation that a request asks for. RFC 9110 §14.
#pragma once

#include <gyre/attributes.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace gyre::http {

/// Units: bytes.
struct byte_range {
  std::uint64_t first = 0;
  std::uint64_t length = 0;
  friend bool operator==(const byte_range&, const byte_range&) noexcept = default;
};

enum class range_kind : std::uint8_t {
  whole,          ///< ignore the field: 200 with everything
  partial,        ///< 206 with `ranges`
  unsatisfiable,  ///< 416
};

struct range_request {
  range_kind kind = range_kind::whole;
  std::vector<byte_range> ranges = {};  ///< for partial: not empty, in the order asked for; no two touch
};

/// Reads a Range field for a representation of `size` bytes. Ranges that overlap or adjoin become one.
///
/// The field is ignored when it is malformed or uses another unit. It is also ignored when it has more than `limit`
/// ranges, or more than two that overlap, because only broken clients and attackers ask for these. RFC 9110 §14.2.
/// When `size` is 0, a range of the last bytes means the whole, too.
[[nodiscard]] GYRE_API range_request parse_range(std::string_view value, std::uint64_t size, std::size_t limit = 16);

/// "bytes 0-499/1234", for a range that is not empty.
[[nodiscard]] GYRE_API std::string content_range(byte_range range, std::uint64_t size);
/// "bytes */1234", for 416.
[[nodiscard]] GYRE_API std::string unsatisfied_range(std::uint64_t size);

}  // namespace gyre::http
