// tests/fuzz/client_url_fuzz.cpp: any bytes as a URL and as a reference: what is accepted is in its normal form, and
// safe in a request.
#include <gyre/client/url.hpp>

#include <cstdint>
#include <string>
#include <string_view>

#include "tests/fuzz/demand.hpp"

namespace http = gyre::http;

namespace {

bool is_visible(std::string_view text) {
  for (const char c : text)
    if (c <= ' ' || c > '~') return false;
  return true;
}

void check(const http::url& url) {
  const auto again = http::url::parse(url.string());
  demand(again.has_value(), "a URL that cannot be read again");
  demand(again->string() == url.string(), "a normal form that has another one");
  demand(again->host() == url.host() && again->port() == url.port() && again->target() == url.target(),
         "a URL that changes when it is read again");
  demand(is_visible(url.string()), "a URL with characters that a request line cannot hold");
  demand(!url.host().empty() && url.path().starts_with('/'), "a URL without a host or a path");
  demand(url.authority().find('@') == std::string_view::npos, "a password in the Host field");
  demand(url.string().starts_with(url.origin()), "an origin from elsewhere");
  for (const std::string_view segment : {"/../", "/./"})
    demand(url.path().find(segment) == std::string_view::npos, "a path that goes up");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::string_view first = text.substr(0, text.find('\n'));
  const std::string_view second = first.size() < text.size() ? text.substr(first.size() + 1) : std::string_view();
  auto url = http::url::parse(first);
  if (!url) {
    demand(url.error().find('\n') == std::string::npos, "a sentence of several lines");
    return 0;
  }
  check(*url);
  if (const auto resolved = url->resolve(second)) check(*resolved);
  url->add_query(second, first);
  check(*url);
  return 0;
}
