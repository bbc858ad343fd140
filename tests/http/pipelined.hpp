// tests/http/pipelined.hpp: numbered requests of one client, and their answers.
#pragma once

#include "tests/http/http_client.hpp"

#include <string>
#include <string_view>

namespace gyre_test {

/// Requests for "/0", "/1", and so on.
inline std::string pipelined(int count) {
  std::string all;
  for (int n = 0; n < count; ++n) all += "GET /" + std::to_string(n) + " HTTP/1.1\r\nHost: a\r\n\r\n";
  return all;
}

template <class Client>
gyre::task<> expect_answers(Client& client, int begin, int end) {
  for (int n = begin; n < end; ++n) {
    const http_answer answer = co_await client.answer();
    CO_ASSERT_EQ(answer.body, std::to_string(n));
  }
}

/// Reads answers until the connection ends. Returns how many there were. All must be whole and in order.
template <class Client>
gyre::task<int> answers_until_end(Client& client, bool expect_close) {
  const std::string text = co_await client.rest();
  std::string_view left = text;
  int count = 0;
  bool last = false;
  while (!left.empty()) {
    EXPECT_FALSE(last);
    const auto head = left.find("\r\n\r\n");
    const std::string body = std::to_string(count);
    if (head == std::string_view::npos || !left.starts_with("HTTP/1.1 200") ||
        !left.substr(head + 4).starts_with(body)) {
      ADD_FAILURE() << "answer " << count << " of " << text.size() << " bytes: " << left.substr(0, 300);
      break;
    }
    last = left.substr(0, head).find("Connection: close") != std::string_view::npos;
    left.remove_prefix(head + 4 + body.size());
    ++count;
  }
  EXPECT_EQ(last, expect_close);
  co_return count;
}

}  // namespace gyre_test
