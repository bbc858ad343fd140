// tests/fuzz/http_target_fuzz.cpp: any bytes as a target: no crash, and no path that leads out of its root.
#include <gyre/http/target.hpp>

#include <cstdint>
#include <string>
#include <string_view>

#include "tests/fuzz/demand.hpp"

namespace http = gyre::http;

namespace {}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view target(reinterpret_cast<const char*>(data), size);
  const http::target_parts parts = http::split_target(target);
  if (const auto path = http::normalize_path(parts.path)) {
    demand(path->starts_with('/'), "a path that does not begin at its root");
    demand((*path + "/").find("/../") == std::string::npos, "a path that leads out");
    std::string again = "/";
    for (const char c : path->substr(1))
      again += c == '/' ? std::string("/") : http::percent_encode({&c, 1}, http::encode_for::path_segment);
    demand(http::normalize_path(again) == path, "a path that is not its own normal form");
  }
  if (const auto form = http::parse_form(parts.query))
    for (const http::form_field& each : *form)
      demand(http::percent_decode(http::percent_encode(each.value, http::encode_for::path_segment)) == each.value,
             "a value that does not come back");
  return 0;
}
