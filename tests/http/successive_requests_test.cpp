// tests/http/successive_requests_test.cpp: requests of one connection share their memory, and nothing else.
#include "tests/http/http_client.hpp"

#include <stdexcept>
#include <string>
#include <vector>

namespace {

using namespace gyre_test;
using http::response;

// Everything that a handler can see of a request, read twice where reading stores something.
response show_all(http::request& r) {
  std::string text = std::string(r.method()) + ' ' + std::string(r.target()) + ' ' + std::string(r.host());
  for (const http::field& each : r.fields()) text += " " + std::string(each.name);
  text += " upgrade=" + std::string(r.upgrade()) + " rest=" + std::string(r.rest_of_path());
  text += " user=" + std::string(r.attribute("user"));
  for (const auto& each : r.query_parameters()) text += " " + each.name + "=" + each.value;
  try {
    text += " id=" + std::string(r.path_parameter("id"));
  } catch (const std::out_of_range&) {
    text += " no id";
  }
  r.set_attribute("user", "ann");
  return response::text(text + " " + std::string(name_of(r.version())));
}

TEST(successive_requests, have_nothing_of_the_previous_one) {
  http::router routes;
  routes.get("/items/{id}/{rest...}", show_all).get("/", show_all);
  run_client(options_for(std::move(routes)), [&](memory_client& client) -> gyre::task<> {
    const std::string first =
        "GET /items/%61b/c/d?x=1 HTTP/1.1\r\nHost: one\r\nUpgrade: h2c\r\nUpgrade: h3\r\nConnection: upgrade\r\n\r\n";
    co_await client.send(first + "GET / HTTP/1.1\r\nHost: two\r\n\r\n" + first);
    const std::string seen =
        "GET /items/%61b/c/d?x=1 one Host Upgrade Upgrade Connection upgrade=h2c, h3 rest=/c/d user= x=1 id=ab "
        "HTTP/1.1";
    const std::vector<std::string> all = {seen, "GET / two Host upgrade= rest=/ user= no id HTTP/1.1", seen};
    for (const std::string& expected : all) {
      const http_answer answer = co_await client.answer();
      EXPECT_EQ(answer.body, expected);
    }
  });
}

}  // namespace
