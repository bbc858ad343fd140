// tests/fuzz/http_range_fuzz.cpp: any bytes as a Range field: ranges lie inside the representation, do not overlap, and
// read back.
#include <gyre/http/byte_range.hpp>

#include <cstdint>
#include <string>
#include <string_view>

#include "tests/fuzz/demand.hpp"

namespace http = gyre::http;

namespace {

std::string written(const http::range_request& request) {
  std::string value = "bytes=";
  for (const http::byte_range range : request.ranges)
    value.append(std::to_string(range.first))
        .append("-")
        .append(std::to_string(range.first + range.length - 1))
        .append(",");
  return value;
}

void check(std::string_view value, std::uint64_t size) {
  const http::range_request request = http::parse_range(value, size);
  demand(request.ranges.empty() == (request.kind != http::range_kind::partial), "ranges without a partial answer");
  demand(request.ranges.size() <= 16, "more ranges than the limit");
  for (std::size_t i = 0; i < request.ranges.size(); ++i) {
    const http::byte_range a = request.ranges[i];
    demand(a.length > 0 && a.first < size && a.length <= size - a.first, "a range that leaves the representation");
    for (std::size_t j = i + 1; j < request.ranges.size(); ++j) {
      const http::byte_range b = request.ranges[j];
      demand(a.first + a.length < b.first || b.first + b.length < a.first, "ranges that touch");
    }
    demand(http::content_range(a, size).starts_with("bytes "), "a range that is not named");
  }
  if (!request.ranges.empty())
    demand(http::parse_range(written(request), size).ranges == request.ranges, "ranges that do not come back");
}

}  // namespace

// The first byte is a size. The rest is parsed for this size, 4 GiB and the largest size, with and without a unit in
// front.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view value(reinterpret_cast<const char*>(data) + 1, size - 1);
  const std::string with_unit = "bytes=" + std::string(value);
  for (const std::uint64_t each : {std::uint64_t{data[0]}, std::uint64_t{1} << 32U, ~std::uint64_t{0}}) {
    check(value, each);
    check(with_unit, each);
  }
  return 0;
}
