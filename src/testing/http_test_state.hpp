// src/testing/http_test_state.hpp: how a test client reaches its application.
#pragma once

#include <gyre/coro/task.hpp>
#include <gyre/testing/http_test_client.hpp>

#include <string>
#include <utility>
#include <vector>

namespace gyre::testing {

struct http_test_state {
  http_test_state() = default;
  http_test_state& operator=(http_test_state&&) = delete;
  virtual ~http_test_state() = default;
  virtual task<http_answer> request(std::string method, std::string target,
                                    std::vector<std::pair<std::string, std::string>> fields, std::string body) = 0;
  virtual task<std::string> exchange_bytes(std::string bytes, bool half_close) = 0;
};

}  // namespace gyre::testing
