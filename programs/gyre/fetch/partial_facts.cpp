// programs/gyre/fetch/partial_facts.cpp: four lines of text.
#include "programs/gyre/fetch/partial_facts.hpp"

#include "programs/gyre/fetch/fetch_failure.hpp"

#include <gyre/http/http_date.hpp>
#include <gyre/http/value_from_text.hpp>
#include <gyre/io/file_bytes.hpp>
#include <gyre/io/owned_fd.hpp>

#include <fmt/format.h>

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <string_view>
#include <system_error>

namespace programs {
namespace {

constexpr std::string_view title = "gyre fetch, unfinished";

}  // namespace

std::optional<partial_facts> partial_facts::read(const std::string& path) {
  constexpr std::size_t max_size = 65'536;
  std::string text;
  if (gyre::io::read_small_file(path, max_size, text) != 0) return std::nullopt;
  std::array<std::string_view, 4> lines;
  std::string_view rest = text;
  for (std::string_view& line : lines) {
    const auto end = rest.find('\n');
    if (end == std::string_view::npos) return std::nullopt;
    line = rest.substr(0, end);
    rest.remove_prefix(end + 1);
  }
  if (lines[0] != title) return std::nullopt;
  return partial_facts{.url = std::string(lines[1]),
                       .validator = std::string(lines[2]),
                       .total = gyre::http::value_from_text<std::uint64_t>(lines[3])};
}

void partial_facts::write(const std::string& path) const {
  const std::string text =
      fmt::format("{}\n{}\n{}\n{}\n", title, url, validator, total ? std::to_string(*total) : std::string());
  (void)::unlink(path.c_str());
  const gyre::owned_fd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  const ssize_t written = file ? ::write(file.get(), text.data(), text.size()) : -1;
  if (written == static_cast<ssize_t>(text.size())) return;
  if (written >= 0) errno = ENOSPC;  // not all of it
  throw output_failure(fmt::format("write {}: {}", path, std::generic_category().message(errno)));
}

std::string strong_validator_of(const gyre::http::client_response& response) {
  const std::string_view tag = response.field("ETag");
  if (!tag.empty()) return tag.starts_with('"') ? std::string(tag) : std::string();
  constexpr gyre::http::unix_seconds certain = 60;
  const auto changed = gyre::http::parse_date(response.field("Last-Modified"), 0);
  const auto sent = gyre::http::parse_date(response.field("Date"), 0);
  if (!changed || !sent || *sent - *changed < certain) return {};
  return std::string(response.field("Last-Modified"));
}

}  // namespace programs
