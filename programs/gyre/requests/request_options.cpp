// programs/gyre/requests/request_options.cpp: checks and reads the options of commands that send HTTP requests.
#include "programs/gyre/requests/request_options.hpp"

#include "programs/common/system_files.hpp"

#include <gyre/client/proxy_options.hpp>
#include <gyre/client/url.hpp>
#include <gyre/http/characters.hpp>
#include <gyre/http/field.hpp>
#include <gyre/http/head_parser.hpp>
#include <gyre/io/file_bytes.hpp>
#include <gyre/io/owned_fd.hpp>
#include <gyre/tls/tls_error.hpp>

#include <fmt/format.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string_view>
#include <system_error>
#include <utility>

namespace programs {
namespace {

// The client refuses these fields, or takes one value only.
struct own_field {
  std::string_view name;
  std::string_view refusal;
  std::string_view taken = {};
};
constexpr std::string_view from_data = "is set by the program: use --data for a body";
constexpr std::string_view from_proxy = "is set by the program, from the user and the password in the URL of the proxy";
constexpr std::string_view set = "is set by the program";
constexpr own_field own_fields[] = {{"Content-Length", from_data},
                                    {"Transfer-Encoding", from_data},
                                    {"Connection", set},
                                    {"Expect", set},
                                    {"Upgrade", set},
                                    {"Keep-Alive", set},
                                    {"Proxy-Connection", set},
                                    {"Proxy-Authorization", from_proxy},
                                    {"TE", "can only be trailers", "trailers"}};

}  // namespace

std::string check_url(const std::string& text) {
  const auto parsed = gyre::http::url::parse(text);
  if (!parsed) return parsed.error();
  if (parsed->scheme() == "http" || parsed->scheme() == "https") return {};
  return fmt::format("expected http:// or https://, got \"{}\"", parsed->string());
}

std::string check_proxy(const std::string& text) {
  const auto parsed = gyre::http::proxy_options::parse(text);
  return parsed || text.empty() ? std::string() : parsed.error();
}

std::string check_method(const std::string& text) {
  constexpr std::size_t max_size = gyre::http::head_parser::max_method_size;
  if (gyre::http::is_token(text) && text.size() <= max_size && text != "CONNECT") return {};
  return fmt::format("expected a method such as GET, other than CONNECT, of at most {} characters, got \"{}\"",
                     max_size, text);
}

std::string check_request_header(const std::string& text) {
  const auto [name, value] = split_header(text);
  // The text may hold a password.
  if (!text.contains(':') || !gyre::http::is_token(name))
    return fmt::format("expected \"Name: value\", got \"{}\"", name.substr(0, name.find_first_of(" \t=;,")));
  if (!gyre::http::is_field_value(value)) return fmt::format("the value of {} holds a control character", name);
  for (const own_field& own : own_fields) {
    if (!gyre::http::equal_ignoring_case(name, own.name)) continue;
    if (own.taken.empty() || !gyre::http::equal_ignoring_case(value, own.taken))
      return fmt::format("{} {}", own.name, own.refusal);
  }
  return {};
}

std::pair<std::string_view, std::string_view> split_header(std::string_view text) noexcept {
  const auto colon = std::min(text.find(':'), text.size());
  return {text.substr(0, colon), gyre::http::trim(text.substr(std::min(colon + 1, text.size())))};
}

bool has_header(const std::vector<std::string>& headers, std::string_view name) noexcept {
  return std::ranges::any_of(headers, [name](const std::string& each) {
    return gyre::http::equal_ignoring_case(split_header(each).first, name);
  });
}

namespace {

constexpr std::uint64_t max_data = std::uint64_t{1} << 30U;

[[noreturn]] void refuse_data(const std::string& option, const std::string& text, const std::string& why) {
  throw std::runtime_error(fmt::format("{} {}: {}", option, text, why));
}

// Waits for the writer of a pipe, as long as that takes.
std::string read_file(const std::string& option, const std::string& text) {
  const auto fail = [&] { refuse_data(option, text, std::generic_category().message(errno)); };
  const auto too_large = [&] {
    refuse_data(option, text, fmt::format("more than {} bytes, which are held in memory", max_data));
  };
  const std::string path = text.substr(1);
  if (path.empty()) refuse_data(option, text, "the name of a file is missing after the @; @- is standard input");
  const gyre::owned_fd opened(path == "-" ? ::dup(STDIN_FILENO)
                                          : ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY));
  if (!opened) fail();
  const int file = opened.get();
  struct stat facts{};
  if (::fstat(file, &facts) == 0 && S_ISREG(facts.st_mode) && static_cast<std::uint64_t>(facts.st_size) > max_data)
    too_large();
  std::string content;
  constexpr std::size_t step = std::size_t{64} << 10U;
  for (std::size_t size = 0;; content.resize(size)) {
    content.resize(size + step);
    const ssize_t count = ::read(file, content.data() + size, step);
    if (count > 0) size += static_cast<std::size_t>(count);
    if (count < 0 && errno != EINTR) fail();
    if (size > max_data) too_large();
    if (count == 0) {
      content.resize(size);
      return content;
    }
  }
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
  return text.starts_with('@') ? read_file(option, text) : text;
}

std::string head_text(const gyre::http::client_response& response) {
  std::string text = fmt::format("HTTP/1.1 {} {}\r\n", response.status(), response.reason());
  for (const gyre::http::field& each : response.fields()) text += fmt::format("{}: {}\r\n", each.name, each.value);
  return text + "\r\n";
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
  if (!system_has_authorities())
    return fmt::format(
        "{} (this system has no certificates of authorities: SSL_CERT_FILE or --cacert FILE names some, "
        "--insecure accepts any certificate)",
        failure.what());
  return fmt::format("{} (--cacert FILE trusts other authorities, --insecure accepts any certificate)", failure.what());
}

}  // namespace programs
