// programs/gyre/fetch/partial_file.cpp: the two files of an unfinished download.
#include "programs/gyre/fetch/partial_file.hpp"

#include "programs/gyre/fetch/fetch_failure.hpp"

#include <gyre/fs/path_operations.hpp>
#include <gyre/fs/status.hpp>
#include <gyre/fs/whole_file.hpp>
#include <gyre/io/io_error.hpp>
#include <gyre/loop/as_expected.hpp>

#include <fmt/format.h>

#include <utility>

namespace programs {
namespace {

// A validator for If-Range: a strong entity tag, or else a date. RFC 9110 §13.1.5.
std::string validator_of(const gyre::http::client_response& response) {
  const std::string_view tag = response.field("ETag");
  if (!tag.empty()) return tag.starts_with("W/") ? std::string() : std::string(tag);
  return std::string(response.field("Last-Modified"));
}

}  // namespace

partial_file::partial_file(std::string path)
    : path_(std::move(path)), part_(path_ + ".part"), from_(path_ + ".part.from") {}

gyre::task<> partial_file::find(std::string_view url) {
  size_ = 0;
  validator_.clear();
  const auto found = co_await gyre::as_expected(gyre::fs::stat(part_));
  if (!found) co_return;
  std::string facts;
  try {
    facts = co_await gyre::fs::read_all(from_, 65'536);
  } catch (const gyre::io_error&) {
    co_return;
  }
  const auto first = facts.find('\n');
  const auto second = first == std::string::npos ? first : facts.find('\n', first + 1);
  if (second == std::string::npos || std::string_view(facts).substr(0, first) != url) co_return;
  validator_ = facts.substr(first + 1, second - first - 1);
  if (!validator_.empty()) size_ = found->size;
}

bool partial_file::is_same_version(const gyre::http::client_response& response) const {
  const std::string_view now = response.field(validator_.starts_with('"') ? "ETag" : "Last-Modified");
  return now.empty() || now == validator_;
}

gyre::task<> partial_file::begin(const gyre::http::client_response& response, std::string_view url, bool continues) {
  try {
    const auto& options = continues ? gyre::fs::for_appending : gyre::fs::for_writing;
    auto opened = co_await gyre::fs::file::open(part_, options);
    file_ = std::move(opened);
    if (continues) co_return;
    // The old bytes are gone by now, so they never stand beside the new validator, even if this program is killed here.
    size_ = 0;
    validator_ = validator_of(response);
    const std::string facts = fmt::format("{}\n{}\n", url, validator_);
    co_await gyre::fs::write_all_to(from_, std::string_view(facts));
  } catch (const gyre::io_error& error) {
    throw output_failure(error.what());
  }
}

gyre::task<> partial_file::write(std::string_view bytes) {
  try {
    co_await file_.write_all(bytes);
    size_ += bytes.size();
  } catch (const gyre::io_error& error) {
    throw output_failure(error.what());
  }
}

gyre::task<> partial_file::complete() {
  try {
    co_await file_.close();
    co_await gyre::fs::rename(part_, path_);
    (void)co_await gyre::as_expected(gyre::fs::remove(from_));
  } catch (const gyre::io_error& error) {
    throw output_failure(error.what());
  }
}

gyre::task<> partial_file::discard() {
  file_ = {};
  size_ = 0;
  validator_.clear();
  (void)co_await gyre::as_expected(gyre::fs::remove(part_));
  (void)co_await gyre::as_expected(gyre::fs::remove(from_));
}

}  // namespace programs
