// programs/gyre/fetch/download.cpp
#include "programs/gyre/fetch/download.hpp"

#include "programs/gyre/fetch/content_range.hpp"
#include "programs/gyre/fetch/fetch_failure.hpp"
#include "programs/gyre/requests/request_options.hpp"
#include "programs/gyre/requests/size_text.hpp"

#include <gyre/io/io_error.hpp>
#include <gyre/loop/sleep.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <exception>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <utility>

namespace programs {

namespace http = gyre::http;
using namespace std::chrono_literals;

download::download(const fetch_settings& settings, progress& shown, std::string url, std::string path,
                   std::function<http::client_request()> make_request)
    : settings_(settings),
      shown_(shown),
      url_(std::move(url)),
      path_(std::move(path)),
      make_request_(std::move(make_request)),
      file_(path_),
      is_whole_(!has_header(settings.headers, "range") && !settings.shows_head()),
      time_(settings.timeout) {}

gyre::task<> download::run() {
  file_.find(url_);
  if (!settings_.resume || !is_whole_) (void)file_.start_over();
  for (unsigned attempt = 0;; ++attempt) {
    begun_ = false;
    try {
      progress::entry bar(shown_, path_);
      co_await receive(bar.state());
      co_return;
    } catch (const std::exception& error) {
      // The client itself repeats requests that fail before their response begins.
      if (!begun_ || attempt >= settings_.retries || !may_pass(error) || time_.left().count() <= 0) throw;
      if ((!is_whole_ || file_.validator().empty()) && !file_.start_over()) throw;
    }
    co_await gyre::sleep(std::min<std::chrono::nanoseconds>(100ms * (1U << std::min(attempt, 6U)), time_.left()));
  }
}

http::client_request download::next_request() const {
  auto made = make_request_();
  if (time_.is_set()) {
    const std::chrono::nanoseconds left = time_.left();
    if (left <= left.zero()) throw gyre::timed_out(settings_.timeout, url_);
    made.timeout(left);
  }
  // Bytes of a compressed body could not be continued.
  if (!has_header(settings_.headers, "accept-encoding")) made.header("Accept-Encoding", "identity");
  return made;
}

// Until the file is complete: a server may send less of it than was asked for.
gyre::task<> download::receive(download_progress& bar) {
  for (bool complete = false; !complete;) {
    auto request = next_request();
    const std::uint64_t had = file_.size();
    if (had > 0) request.header("Range", fmt::format("bytes={}-", had)).header("If-Range", file_.validator());
    const http::client_response response = co_await request.send();
    if (had > 0 && response.status() == 416) {  // nothing is left, or the file has become shorter
      file_.discard();
      continue;
    }
    if (response.status() >= 400) throw status_failure(response.status());
    if (had > 0 && response.status() != 206 && response.status() != 200) throw range_failure(response.status());
    if (response.status() == 304 && !settings_.shows_head()) {  // to a condition of the user: the file is up to date
      if (!settings_.silent) shown_.say(fmt::format("{}: not modified", path_));
      co_return;
    }
    if (response.status() == 206 && had == 0 && !has_header(settings_.headers, "range"))
      throw std::runtime_error("the server sent a part that was not asked for");
    std::optional<content_range> part;
    if (response.status() == 206 && had > 0) {
      part = parse_content_range(response.field("Content-Range"));
      if (!part || part->first != had || !file_.is_same_version(response, part->total)) {
        file_.discard();
        continue;
      }
    }
    co_await time_.cover(file_.begin(response, url_, part.has_value()), path_);
    if (!begun_ || !part) bar.before = file_.size();
    begun_ = true;
    bar.done = file_.size();
    bar.total = part ? std::optional(part->total) : response.body().length();
    if (settings_.shows_head()) {
      const std::string head = head_text(response);
      co_await time_.cover(file_.write(head), path_);
    }
    co_await write_body(response, bar);
    if (part && file_.size() != part->last + 1) {
      file_.discard();
      throw length_failure("the server sent another number of bytes than it announced");
    }
    complete = !part || part->last + 1 == part->total;
  }
  co_await file_.complete();
  if (!settings_.silent) report(bar);
}

gyre::task<> download::write_body(const http::client_response& response, download_progress& bar) {
  auto body = response.body();
  for (;;) {
    const std::string_view piece = co_await body.receive();
    if (piece.empty()) co_return;
    co_await time_.cover(file_.write(piece), path_);
    bar.done = file_.size();
  }
}

void download::report(const download_progress& bar) {
  const double seconds = std::chrono::duration<double>(gyre::now() - bar.began).count();
  const auto size = [](std::uint64_t bytes) { return size_text(static_cast<double>(bytes)); };
  shown_.say(fmt::format("{}: {} in {:.1f} s{}", path_, size(bar.done - bar.before), seconds,
                         bar.before > 0 ? fmt::format(", after {} of before", size(bar.before)) : std::string()));
}

}  // namespace programs
