// src/testing/http_test_client.cpp: the functions of the test client, however it reaches its application.
#include "http_test_state.hpp"

namespace gyre::testing {

std::string_view http_answer::field(std::string_view name) const noexcept {
  for (const auto& [each, value] : fields)
    if (http::equal_ignoring_case(each, name)) return value;
  return {};
}

http_test_client::~http_test_client() { delete state_; }

GYRE_CORO_WRAPPER task<http_answer> http_test_client::request(std::string method, std::string target,
                                                              std::vector<std::pair<std::string, std::string>> fields,
                                                              std::string body) {
  return state_->request(std::move(method), std::move(target), std::move(fields), std::move(body));
}
GYRE_CORO_WRAPPER task<http_answer> http_test_client::request(std::string method, std::string target) {
  return request(std::move(method), std::move(target), {}, {});
}
GYRE_CORO_WRAPPER task<http_answer> http_test_client::get(std::string target) {
  return request("GET", std::move(target), {}, {});
}
GYRE_CORO_WRAPPER task<http_answer> http_test_client::post(std::string target, std::string body,
                                                           std::string media_type) {
  return request("POST", std::move(target), {{"Content-Type", std::move(media_type)}}, std::move(body));
}
GYRE_CORO_WRAPPER task<std::string> http_test_client::exchange_bytes(std::string bytes, bool half_close) {
  return state_->exchange_bytes(std::move(bytes), half_close);
}

}  // namespace gyre::testing
