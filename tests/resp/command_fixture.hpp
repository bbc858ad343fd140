// tests/resp/command_fixture.hpp: runs commands on a keyspace of their own, at a time set by the test.
#pragma once

#include "programs/resp_server/commands.hpp"
#include "programs/resp_server/request_parser.hpp"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <string_view>
#include <utility>

namespace resp_test {

class command_fixture : public testing::Test {
 protected:
  static constexpr resp::unix_ms start = 1'700'000'000'000;

  explicit command_fixture(const resp::keyspace_options& options = {}) : keys(options) {}

  // The reply to one command, as sent over the wire.
  template <class... Arguments>
  std::string run(const Arguments&... arguments) {
    const std::array<std::string_view, sizeof...(arguments)> all{std::string_view(arguments)...};
    reply.clear();
    resp::execute(all, keys, now, reply, connection);
    finish();
    return std::string(reply.view());
  }

  // Performs the steps of a command over many keys. Returns their number.
  int finish() {
    int steps = 0;
    if (const auto work = std::move(connection.unfinished)) {
      do ++steps;
      while (!work->step(keys, now, reply));
    }
    return steps;
  }

  // The replies to raw input, parsed as by a server.
  std::string answer(std::string_view input) {
    resp::request_parser parser;
    reply.clear();
    while (!input.empty() && !connection.close_after_reply) {
      const resp::parse_result parsed = parser.parse(input);
      if (parsed.status == resp::parse_status::need_more) break;
      if (parsed.status == resp::parse_status::error) {
        resp::reply_protocol_error(parser.error(), reply, connection);
        break;
      }
      resp::execute(parser.arguments(), keys, now, reply, connection);
      finish();
      input.remove_prefix(parsed.consumed);
    }
    return std::string(reply.view());
  }

  resp::unix_ms now = start;
  resp::server_info info{.started_at = start, .port = 6380};
  resp::keyspace keys;
  resp::connection_state connection{.server = info, .id = 7};
  resp::reply_buffer reply;
};

inline std::string bulk(std::string_view text) {
  return "$" + std::to_string(text.size()) + "\r\n" + std::string(text) + "\r\n";
}

inline const std::string ok = "+OK\r\n";
inline const std::string null = "$-1\r\n";
inline const std::string syntax_error = "-ERR syntax error\r\n";
inline const std::string not_an_integer = "-ERR value is not an integer or out of range\r\n";

}  // namespace resp_test
