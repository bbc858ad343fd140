// programs/gyre/fetch/fetch.cpp: gets URLs, one after the other to standard output, or several at a time to files.
#include "programs/gyre/fetch/fetch.hpp"

#include "programs/common/server_options.hpp"
#include "programs/gyre/fetch/download.hpp"
#include "programs/gyre/fetch/fetch_failure.hpp"
#include "programs/gyre/fetch/progress.hpp"
#include "programs/gyre/fetch/time_limit.hpp"
#include "programs/gyre/requests/large_heads.hpp"
#include "programs/gyre/requests/request_options.hpp"

#include <gyre/client.hpp>
#include <gyre/gyre.hpp>
#include <gyre/http/status.hpp>
#include <gyre/io/printable.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <optional>
#include <set>
#include <stdexcept>
#include <string_view>
#include <utility>

namespace programs {
namespace {

namespace http = gyre::http;

http::proxy_options proxies_of(const fetch_settings& settings) {
  http::proxy_options proxies;
  if (!settings.proxy)
    proxies = http::proxy_options::from_environment();
  else if (!settings.proxy->empty())
    proxies.for_http = proxies.for_https = http::proxy_options::parse(*settings.proxy).value();
  if (settings.no_proxy) proxies.except = *settings.no_proxy;
  return proxies;
}

http::client_options options_of(const fetch_settings& settings, const http::proxy_options& proxies) {
  http::client_options options;
  options.timeouts.connect = options.timeouts.tls = settings.connect_timeout;
  options.timeouts.total = settings.timeout;
  options.redirects.max = settings.redirects;
  options.retries.attempts = settings.retries + 1;
  options.limits.head = large_heads;
  options.limits.decompressed = std::uint64_t{1} << 40U;
  options.unix_socket = settings.unix_socket;
  options.proxies = proxies;
  options.user_agent = "gyre-fetch";
  options.tls = trusted_by(settings.insecure, settings.authorities);
  return options;
}

/// The fetches of one call.
class fetches {
 public:
  fetches(const fetch_settings& settings, std::string body, const http::client_options& options)
      : settings_(settings), body_(std::move(body)), client_(options) {}

  gyre::task<int> run() {
    if (!settings_.to_files()) {
      auto out = gyre::fs::standard_output();
      for (const std::string& each : settings_.urls) co_await noting_failures(each, print(each, out));
      co_return code_;
    }
    if (const std::string twice = path_used_twice(); !twice.empty()) {
      progress_.say(
          fmt::format("gyre fetch: two of the URLs would be saved as {}: fetch one of them to --output", twice));
      co_return 2;
    }
    auto bars = gyre::spawn(show_bars());
    auto save_one = [this](const std::string& url) -> gyre::task<> { co_await noting_failures(url, save(url)); };
    co_await gyre::for_each_concurrent(settings_.urls, settings_.parallel, save_one);
    bars.cancel();
    co_await bars.wait();
    co_return code_;
  }

 private:
  gyre::task<> show_bars() {
    if (!settings_.silent) co_await progress_.show();
  }

  gyre::task<> noting_failures(const std::string& url, gyre::task<> fetch) {
    try {
      co_await std::move(fetch);
    } catch (const std::exception& failure) {
      progress_.say(fmt::format("gyre fetch: {}: {}", http::url(url).string(), explain(failure)));
      if (code_ == 0) code_ = exit_code_of(failure);
    }
  }

  [[nodiscard]] http::client_request request(const std::string& url) {
    const bool has_body = settings_.data || settings_.json;
    const std::string method = !settings_.method.empty() ? settings_.method
                               : settings_.head_only     ? "HEAD"
                               : has_body                ? "POST"
                                                         : "GET";
    http::client_request made = client_.request(method, url);
    for (const std::string& each : settings_.headers) {
      const auto [name, value] = split_header(each);
      made.header(name, value);
    }
    if (settings_.json && !has_header(settings_.headers, "accept")) made.header("Accept", "application/json");
    const char* const type = has_header(settings_.headers, "content-type") ? ""
                             : settings_.json                              ? "application/json"
                                                                           : "application/x-www-form-urlencoded";
    if (has_body) made.body(body_, type);
    if (!settings_.user.empty()) {
      const auto colon = settings_.user.find(':');
      made.basic_auth(settings_.user.substr(0, colon), settings_.user.substr(colon + 1));
    }
    return made;
  }

  // ---- to standard output

  static gyre::task<> write(gyre::fs::file& out, std::string_view text) {
    try {
      co_await out.write_all(text);
    } catch (const gyre::io_error& error) {
      throw output_failure(error.what());
    }
  }

  // The program asked for codings, so it has to decode them.
  void check_coding(const http::client_response& response) const {
    if (has_header(settings_.headers, "accept-encoding") || has_header(settings_.headers, "range")) return;
    if (response.body().is_decompressed() || response.body().at_end()) return;
    for (const http::field& each : response.fields()) {
      std::string_view rest =
          http::equal_ignoring_case(each.name, "Content-Encoding") ? each.value : std::string_view();
      for (auto coding = http::next_in_list(rest); !coding.empty(); coding = http::next_in_list(rest))
        if (!http::equal_ignoring_case(coding, "identity"))
          throw http::client_error(http::client_errc::bad_coding, "read", response.url().string(), each.value);
    }
  }

  gyre::task<> print(const std::string& url, gyre::fs::file& out) {
    const time_limit time(settings_.timeout);
    const std::string_view name = "standard output";
    auto prepared = request(url);
    const http::client_response response = co_await prepared.send();
    if (settings_.shows_head()) {
      const std::string head = head_text(response);
      co_await time.cover(write(out, head), name);
    }
    auto body = response.body();
    check_coding(response);
    for (;;) {
      const std::string_view piece = co_await body.receive();
      if (piece.empty()) break;
      co_await time.cover(write(out, piece), name);
    }
    if (response.status() >= 400) throw status_failure(response.status());
  }

  // ---- to files

  [[nodiscard]] std::string path_for(const http::url& url) const {
    if (!settings_.output.empty()) return settings_.output;
    const std::string path(url.path());
    const std::string name = path.substr(path.rfind('/') + 1);
    // An encoded slash or dot stays encoded, so the name cannot leave the directory.
    if (name.empty()) throw output_failure("the URL has no file name: use --output");
    return settings_.directory + "/" + name;
  }

  // "" when each file is written for one URL only.
  [[nodiscard]] std::string path_used_twice() const {
    std::set<std::string> used;
    for (const std::string& url : settings_.urls) {
      try {
        const std::string path = path_for(http::url(url));
        for (const char* const end : {"", ".part", ".part.from"})
          if (!used.insert(path + end).second) return path + end;
      } catch (const output_failure&) {  // it is reported when it is this URL's turn
      }
    }
    return {};
  }

  gyre::task<> save(const std::string& url) {
    const http::url parsed(url);
    download one(settings_, progress_, std::string(parsed.without_fragment()), path_for(parsed),
                 [this, &url] { return request(url); });
    co_await one.run();
  }

  const fetch_settings& settings_;
  std::string body_;
  http::client client_;
  progress progress_;
  int code_ = 0;
};

gyre::task<int> run_fetches(const fetch_settings& settings, std::string body, http::client_options options) {
  fetches all(settings, std::move(body), options);
  co_return co_await all.run();
}

}  // namespace

int fetch(const fetch_settings& settings) {
  if (!settings.output.empty() && settings.to_files() && settings.urls.size() > 1) {
    gyre::print_diagnostic({"gyre fetch: --output names one file, and there are ", std::to_string(settings.urls.size()),
                            " URLs: use --remote-name"});
    return 2;
  }
  const http::proxy_options proxies = proxies_of(settings);
  try {
    if (settings.unix_socket.empty())
      for (const std::string& each : settings.urls) (void)proxies.find(http::url(each));
  } catch (const std::invalid_argument& wrong) {  // a variable of the environment
    gyre::print_diagnostic({"gyre fetch: ", wrong.what()});
    return 2;
  }
  // The files are read before the loop runs: while one does not answer, a signal ends the program at once.
  std::string body;
  http::client_options options;
  try {
    if (settings.data) body = read_data("--data", *settings.data);
    if (settings.json) body = read_data("--json", *settings.json);
  } catch (const std::exception& unreadable) {
    gyre::print_diagnostic({"gyre fetch: ", unreadable.what()});
    return 26;
  }
  try {
    options = options_of(settings, proxies);
  } catch (const std::exception& error) {
    gyre::print_diagnostic({"error: ", error.what()});
    return 1;
  }
  return gyre::run_main(run_fetches(settings, std::move(body), std::move(options)), run_with(settings.backend));
}

}  // namespace programs
