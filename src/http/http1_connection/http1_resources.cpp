// src/http/http1_connection/http1_resources.cpp: the fields that a server adds to its responses, renewed each second.
#include <gyre/http/field_line.hpp>
#include <gyre/io/wall_clock.hpp>

#include "http1_resources.hpp"

#include <algorithm>
#include <chrono>
#include <string>
#include <string_view>

namespace gyre::http {

void http1_resources::renew_lines(io::monotonic_time now) {
  const timespec time = io::wall_clock();
  text_of_lines_.assign("Date: ").append(date_.text(time.tv_sec)).append("\r\n");
  const std::size_t date = text_of_lines_.size();
  if (!app.options.name.empty()) append_field_line(text_of_lines_, "Server", app.options.name);
  const std::size_t both = text_of_lines_.size();
  // So that no client sends a request at the moment at which the server closes an idle connection.
  const std::chrono::nanoseconds idle = app.options.timeouts.idle;
  constexpr std::string_view connection = "Connection: keep-alive\r\n";
  if (idle != idle.max())
    text_of_lines_.append(connection)
        .append("Keep-Alive: timeout=")
        .append(std::to_string(std::chrono::floor<std::chrono::seconds>(idle).count()))
        .append("\r\n");
  const std::string_view all = text_of_lines_;
  lines_ = {.date = all.substr(0, date),
            .server = all.substr(date, both - date),
            .keep_alive = all.substr(std::min(both + connection.size(), all.size())),
            .all = all};
  next_second_ = now + (1'000'000'000 - time.tv_nsec);  // last: without memory, the text has no end
}

}  // namespace gyre::http
