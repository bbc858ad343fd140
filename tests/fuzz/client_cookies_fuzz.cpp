// tests/fuzz/client_cookies_fuzz.cpp: any bytes as Set-Cookie fields of several hosts: what is sent back is a field
// value, goes only to hosts that may have it, and is bounded.
#include <gyre/client/cookie_jar.hpp>
#include <gyre/http/field.hpp>

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "tests/fuzz/demand.hpp"

namespace http = gyre::http;

namespace {

const std::array<http::url, 5>& hosts() {
  static const std::array<http::url, 5> all{http::url("https://a.test/x/y"), http::url("http://b.a.test/"),
                                            http::url("http://evil.test/x"), http::url("http://127.0.0.1/"),
                                            http::url("https://test/")};
  return all;
}

bool is_below(std::string_view host, std::string_view domain) {
  return host == domain || (host.ends_with(domain) && host[host.size() - domain.size() - 1] == '.');
}

}  // namespace

// Each line begins with a byte that chooses the host.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr http::unix_seconds now = 1'800'000'000;
  std::string_view text(reinterpret_cast<const char*>(data), size);
  http::cookie_jar jar;
  while (!text.empty()) {
    const auto& from = hosts()[static_cast<unsigned char>(text[0]) % hosts().size()];
    text.remove_prefix(1);
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(line.size() < text.size() ? line.size() + 1 : line.size());
    const std::size_t before = jar.all().size();
    jar.store(from, line, now);
    demand(jar.all().size() <= before + 1, "a field that sets several cookies");
    for (const http::stored_cookie& each : jar.all()) {
      demand(each.expires > now, "a cookie that has expired");
      demand(each.path.starts_with('/'), "a path that does not begin with a slash");
      if (each.name.starts_with("__Host-")) demand(each.secure && each.host_only, "a __Host- cookie for others");
    }
    for (const auto& to : hosts()) {
      std::string sent;
      jar.append_for(to, now, sent);
      demand(http::is_field_value(sent), "cookies that are no field value");
      std::size_t allowed = 0;
      for (const http::stored_cookie& each : jar.all()) {
        const bool fits = each.host_only ? to.host() == each.domain : is_below(to.host(), each.domain);
        if (fits && (!each.secure || to.scheme() == "https")) allowed += each.name.size() + each.value.size() + 3;
      }
      demand(sent.size() <= allowed, "a cookie that is sent to another host");
    }
  }
  return 0;
}
