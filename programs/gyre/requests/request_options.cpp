// programs/gyre/requests/request_options.cpp: checks and reads the options of commands that send HTTP requests.
#include "programs/gyre/requests/request_options.hpp"

#include <gyre/client/proxy_options.hpp>
#include <gyre/client/url.hpp>
#include <gyre/http/field.hpp>
#include <gyre/io/file_bytes.hpp>
#include <gyre/tls/tls_error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string_view>
#include <system_error>
#include <utility>

namespace programs {
namespace {

bool is_token(std::string_view text) {
  constexpr std::string_view others = "!#$%&'*+-.^_`|~";
  return !text.empty() && std::ranges::all_of(text, [&](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || others.contains(c);
  });
}

}  // namespace

std::string check_url(const std::string& text) {
  const auto parsed = gyre::http::url::parse(text);
  if (!parsed) return parsed.error();
  if (parsed->scheme() == "http" || parsed->scheme() == "https") return {};
  return fmt::format("expected http:// or https://, got \"{}\"", text);
}

std::string check_proxy(const std::string& text) {
  const auto parsed = gyre::http::proxy_options::parse(text);
  return parsed ? std::string() : parsed.error();
}

std::string check_method(const std::string& text) {
  if (is_token(text) && text != "CONNECT") return {};
  return fmt::format("expected a method such as GET, other than CONNECT, got \"{}\"", text);
}

std::string check_request_header(const std::string& text) {
  const auto colon = text.find(':');
  const std::string_view name = std::string_view(text).substr(0, colon);
  const bool has_line_end = text.find_first_of(std::string_view("\r\n\0", 3)) != std::string::npos;
  if (colon == std::string::npos || !is_token(name) || has_line_end)
    return fmt::format("expected \"Name: value\", got \"{}\"", text);
  for (const char* const own : {"Content-Length", "Transfer-Encoding", "Connection"})
    if (gyre::http::equal_ignoring_case(name, own))
      return fmt::format("{} is set by the program: use --data for a body", name);
  return {};
}

std::pair<std::string_view, std::string_view> split_header(std::string_view text) noexcept {
  const auto colon = text.find(':');
  const auto name = text.substr(0, colon);
  constexpr std::string_view space = " \t";
  text.remove_prefix(std::min(text.find_first_not_of(space, name.size() + 1), text.size()));
  return {name, text.substr(0, text.find_last_not_of(space) + 1)};
}

bool has_header(const std::vector<std::string>& headers, std::string_view name) noexcept {
  return std::ranges::any_of(headers, [name](const std::string& each) {
    return gyre::http::equal_ignoring_case(split_header(each).first, name);
  });
}

namespace {

std::string read_file(const std::string& option, const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream content;
  content << file.rdbuf();  // a directory makes it bad; an empty file only adds nothing
  if (!file.is_open() || content.bad()) throw std::runtime_error(fmt::format("{}: cannot read {}", option, path));
  return std::move(content).str();
}

// With limits: a FIFO without a writer, or a device without an end, must not keep the program from starting.
std::string read_authorities(const std::string& path) {
  constexpr std::size_t max_size = 10'000'000;  // a bundle of a system has about 250 kB
  std::string content;
  const int error = gyre::io::read_small_file(path, max_size, content);
  if (error == 0 && !content.empty()) return content;
  throw std::runtime_error(fmt::format("--cacert {}: {}", path,
                                       error == 0 ? "the file is empty, or a pipe that nobody writes to"
                                                  : std::error_code(-error, std::generic_category()).message()));
}

gyre::tls::client_config configuration_with(const gyre::tls::client_options& wanted, const std::string& path) {
  try {
    return gyre::tls::client_config(wanted);
  } catch (const gyre::tls::tls_error& failure) {
    throw std::runtime_error(fmt::format("--cacert {}: {}", path, failure.what()));
  }
}

}  // namespace

std::string read_data(const std::string& option, const std::string& text) {
  return text.starts_with('@') ? read_file(option, text.substr(1)) : text;
}

std::optional<gyre::tls::client_config> trusted_by(bool insecure, const std::string& authorities) {
  if (!insecure && authorities.empty()) return std::nullopt;
  gyre::tls::client_options wanted{.protocols = {"http/1.1"}, .insecure_skip_verify = insecure};
  if (authorities.empty()) return gyre::tls::client_config(wanted);
  wanted.authorities = read_authorities(authorities);
  return configuration_with(wanted, authorities);
}

std::string explain(const std::exception& failure) {
  const auto* const refusal = dynamic_cast<const gyre::tls::tls_error*>(&failure);
  if (refusal == nullptr || refusal->code() != gyre::tls::tls_errc::certificate_rejected) return failure.what();
  return fmt::format("{} (--cacert FILE trusts other authorities, --insecure accepts any certificate)", failure.what());
}

}  // namespace programs
