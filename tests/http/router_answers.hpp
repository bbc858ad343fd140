// tests/http/router_answers.hpp: queries a router in one line.
#pragma once

#include "tests/http/http_client.hpp"
#include "tests/http/lines.hpp"

namespace gyre_test {

/// The answers of `routes` to requests such as "GET /path", each as "200 body".
inline lines answers(http::router routes, const lines& requests) {
  lines all;
  run_virtual([&]() -> gyre::task<> {
    http_test_client app(std::move(routes));
    for (const std::string& each : requests) {
      const std::size_t space = each.find(' ');
      const http_answer answer = co_await app.request(each.substr(0, space), each.substr(space + 1));
      all.push_back(std::to_string(answer.status) + ' ' + answer.body);
    }
  });
  return all;
}

inline http_answer answer_to(http::router routes, std::string method, std::string target) {
  http_answer result;
  run_virtual([&]() -> gyre::task<> {
    http_test_client app(std::move(routes));
    result = co_await app.request(method, target);
  });
  return result;
}

/// Answers with the values of the named parameters.
inline http::handler shows(lines names) {
  return [names = std::move(names)](http::request& r) {
    std::string text;
    for (const std::string& each : names) text.append("[").append(r.path_parameter(each)).append("]");
    return http::response::text(std::move(text));
  };
}

template <class Error, class F>
std::string message_of(F f) {
  try {
    f();
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing was thrown";
}

}  // namespace gyre_test
