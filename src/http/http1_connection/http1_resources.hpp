// src/http/http1_connection/http1_resources.hpp: what the connections of HTTP/1 of a server share on one loop.
#pragma once

#include <gyre/http/http_date.hpp>
#include <gyre/io/backend.hpp>
#include <gyre/loop/event_loop.hpp>

#include "exchange/application.hpp"
#include "http1/response_head.hpp"
#include "workspace.hpp"

#include <cstddef>
#include <string>

namespace gyre::http {

class http1_resources {
 public:
  /// Lifetime: `server` must outlive this.
  explicit http1_resources(application& server) noexcept : app(server) {}
  http1_resources& operator=(http1_resources&&) = delete;

  /// The fields that the server adds to responses. Lifetime: valid until the next call.
  [[nodiscard]] const server_lines& lines() {
    const io::monotonic_time now = event_loop::current().recent();
    if (now >= next_second_) renew_lines(now);
    return lines_;
  }

  application& app;
  workspaces work = {};
  std::size_t refused = 0;  // connections that are being refused with a response

 private:
  void renew_lines(io::monotonic_time now);

  date_cache date_;
  io::monotonic_time next_second_ = 0;  // when the clock of the loop shows this, the date has changed
  std::string text_of_lines_;
  server_lines lines_;
};

}  // namespace gyre::http
