// src/testing/http_test_direct.cpp: a test client without a connection.
#include <gyre/http/status.hpp>
#include <gyre/io/io_error.hpp>
#include <gyre/testing/http_direct.hpp>

#include "http_test_state.hpp"

#include <stdexcept>

namespace gyre::testing {
namespace {

class direct_client final : public http_test_state {
 public:
  explicit direct_client(const http_direct_application& app) : app_(app) {}

  task<http_answer> request(std::string method, std::string target,
                            std::vector<std::pair<std::string, std::string>> fields, std::string body) override {
    http_direct_exchange exchange = app_.begin({.method = std::move(method),
                                                .target = std::move(target),
                                                .fields = std::move(fields),
                                                .body = std::move(body)});
    http_answer answer;
    for (;;) {
      http_direct_part next = co_await next_of(exchange);
      switch (next.kind) {
        case http_direct_part::part::interim:
          break;
        case http_direct_part::part::head:
          answer.status = next.status;
          answer.reason = http::reason_phrase(next.status);
          answer.fields = std::move(next.fields);
          break;
        case http_direct_part::part::body:
          answer.body += next.bytes;
          break;
        case http_direct_part::part::end:
          answer.trailers = std::move(next.fields);
          co_return answer;
      }
    }
  }

  task<std::string> exchange_bytes(std::string /*bytes*/, bool /*half_close*/) override {
    throw std::logic_error("exchange_bytes: a direct test client sends no bytes; make one with a connection");
    co_return std::string();
  }

 private:
  static task<http_direct_part> next_of(http_direct_exchange& exchange) {
    try {
      co_return co_await exchange.receive();
    } catch (const io_error& error) {
      throw io_error(error.code(), "request", "the test");
    }
  }

  http_direct_application app_;
};

}  // namespace

http_test_client::http_test_client(direct_t /*mode*/, http::handler routes)
    : http_test_client(http_direct_application(std::move(routes))) {}
http_test_client::http_test_client(direct_t /*mode*/, http::server_options options)
    : http_test_client(http_direct_application(std::move(options))) {}
http_test_client::http_test_client(const http_direct_application& app) : state_(new direct_client(app)) {}

}  // namespace gyre::testing
