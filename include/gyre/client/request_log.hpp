// gyre/client/request_log.hpp: tells a program what its client does.
#pragma once

#include <gyre/attributes.hpp>
#include <gyre/client/client_middleware.hpp>
#include <gyre/loop/event_loop.hpp>

#include <chrono>
#include <exception>
#include <string>
#include <string_view>
#include <utility>

namespace gyre::http {

/// A request whose response has begun, or that has failed.
struct request_record {
  std::string_view method;
  std::string_view url;  ///< without user name, password and fragment
  int status = 0;        ///< 0 for none
  std::string_view failure = {};
  std::chrono::nanoseconds time{0};  ///< until the head of the final response; with redirects and retries

  /// "GET https://a.test/ 200 12.5 ms". Bytes of the server that could forge a line are escaped.
  [[nodiscard]] GYRE_API std::string string() const;
};

/// Calls `sink(record)` after each request. Cancelled ones have the failure "cancelled".
/// Lifetime: the texts of the record are valid during the call. Errors of the request: those of `sink`.
template <class Sink>
  requires requires(Sink& sink, const request_record& record) { sink(record); }
[[nodiscard]] client_middleware log_requests(Sink sink) {
  return [sink = std::move(sink)](client_request request, next_sender next) mutable -> task<client_response> {
    const std::string method(request.method());
    const std::string url(request.url().without_fragment());
    const io::monotonic_time begin = event_loop::current().now();
    request_record record{.method = method, .url = url};
    const auto report = [&] {
      record.time = std::chrono::nanoseconds(event_loop::current().now() - begin);
      sink(record);
    };
    try {
      auto sending = next(std::move(request));
      client_response response = co_await std::move(sending);
      record.status = response.status();
      report();
      co_return response;
    } catch (const std::exception& error) {
      record.failure = error.what();
      if (record.status == 0) report();
      throw;
    } catch (...) {
      record.failure = "cancelled";
      if (record.status == 0) report();
      throw;
    }
  };
}

}  // namespace gyre::http
