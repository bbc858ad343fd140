// tests/fuzz/http_cookie_fuzz.cpp: any bytes as cookies, and as parts of a cookie to be set: no part can split the
// cookie.
#include <gyre/http/cookie.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "tests/fuzz/demand.hpp"

namespace http = gyre::http;

namespace {

std::vector<http::cookie> all_of(std::string_view value) {
  std::vector<http::cookie> all;
  while (const auto each = http::next_cookie(value)) all.push_back(*each);
  return all;
}

void check_reading(std::string_view value) {
  const std::vector<http::cookie> all = all_of(value);
  std::string again;
  for (const http::cookie& each : all) {
    demand(http::is_token(each.name), "a name that is not a token");
    demand(!each.value.contains(';'), "a value that holds what separates");
    const auto first =
        std::find_if(all.begin(), all.end(), [&](const http::cookie& one) { return one.name == each.name; });
    demand(http::find_cookie(value, each.name) == first->value, "not the first of its name");
    again.append(each.name).append("=\"").append(each.value).append("\"; ");  // so that spaces and quotes stay
  }
  demand(all_of(again) == all, "cookies that do not come back");
  const std::array<http::field, 3> fields{{{"cookie", value}, {"X", value}, {"Cookie", again}}};
  std::size_t i = 0;
  for (const http::cookie& each : http::cookie_range(fields))
    demand(each == all[i++ % all.size()], "a range of others");
  demand(i == 2 * all.size(), "a range of another length");
}

// The parts are separated by line ends.
void check_writing(std::string_view text) {
  std::string_view parts[4];
  for (std::string_view& part : parts) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    part = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  http::set_cookie cookie = {.name = parts[0], .value = parts[1], .path = parts[2], .domain = parts[3]};
  cookie.secure = text.starts_with('s');
  cookie.expires = static_cast<http::unix_seconds>(text.size()) * 1'000'000'000 - 20'000'000'000;
  std::string set;
  try {
    set = http::format_set_cookie(cookie);
  } catch (const std::invalid_argument&) {
    return;
  }
  demand(http::is_field_value(set), "a cookie that is not a field value");
  const auto attributes = 1 + (cookie.path.empty() ? 0 : 1) + (cookie.domain.empty() ? 0 : 1) + (cookie.secure ? 1 : 0);
  demand(std::count(set.begin(), set.end(), ';') == attributes, "a cookie that falls apart");
  demand(http::find_cookie(set, cookie.name) == cookie.value, "a cookie that does not come back");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  check_reading(text);
  check_writing(text);
  return 0;
}
