// tests/client/mock_answers.hpp: what a client gets from a server in memory, as text.
#pragma once

#include <gyre/client.hpp>
#include <gyre/gyre.hpp>
#include <gyre/http.hpp>
#include <gyre/testing/http_mock_server.hpp>
#include <gyre/testing/run_test.hpp>

#include <gtest/gtest.h>

#include <string>

namespace gyre_test {

namespace http = gyre::http;
using gyre::testing::http_mock_server;
using namespace std::chrono_literals;

/// The status and the body, or the sentence of the error.
inline gyre::task<std::string> answer_or_error(http::client& client, std::string url) {
  try {
    auto response = co_await client.get(url);
    const std::string body = co_await response.read_all();
    co_return std::to_string(response.status()) + " " + body;
  } catch (const gyre::io_error& error) {
    co_return error.what();
  }
}

/// Expects that the answer, or the sentence, contains this.
inline gyre::task<> expect_answer(http::client& client, std::string url, std::string expected) {
  const std::string answer = co_await answer_or_error(client, url);
  EXPECT_NE(answer.find(expected), std::string::npos) << answer << ", and not " << expected;
}

}  // namespace gyre_test
