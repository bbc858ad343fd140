// tests/http/frameworks/application.cpp: the routes of each application.* of this folder, written with gyre.
// Usage: gyre_framework_application DIRECTORY, which is served below /static. Prints the port.
#include <gyre/gyre.hpp>
#include <gyre/http.hpp>

#include <cstdio>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

namespace {

namespace http = gyre::http;

http::response text(std::string body) { return http::response::text(std::move(body)); }

template <class Fields>
std::string values_of_a(const Fields& fields) {
  std::string all;
  for (const http::form_field& each : fields)
    if (each.name == "a") all += each.value + "|";
  return all;
}

gyre::task<http::response> echo(http::request& request) {
  std::string body = co_await request.body().read_all();
  co_return text(std::move(body));
}

gyre::task<http::response> form(http::request& request) {
  const auto fields = co_await request.form();
  co_return text(values_of_a(fields));
}

// NOLINTNEXTLINE(*-static-accessed-through-instance)
gyre::task<> fail_at_once(http::body_writer& /*out*/) {
  throw std::runtime_error("the source of the body is gone");
  co_return;
}

http::response item(http::request& request) {
  return text(std::string(request.method()) + " " + std::string(request.path_parameter("id")));
}

http::router routes(std::string_view directory) {
  http::router all;
  all.get("/hello", [](http::request&) { return text("hello"); });
  all.get("/users/{name}",
          [](http::request& request) { return text("user " + std::string(request.path_parameter("name"))); });
  all.post("/users/search", [](http::request&) { return text("search"); });
  all.post("/app/login", [](http::request&) { return text("login"); });
  all.get("/app/{rest...}", [](http::request&) { return text("page"); });
  all.get("/items/{id}", item).put("/items/{id}", item).del("/items/{id}", item);
  all.get("/query", [](http::request& request) { return text(values_of_a(request.query_parameters())); });
  all.post("/form", form);
  all.post("/echo", echo);
  all.get("/cookie", [](http::request& request) { return text(std::string(request.cookie("a"))); });
  all.get("/redirect", [](http::request&) { return http::response::redirect("/hello", 302); });
  all.get("/redirect/odd", [](http::request&) { return http::response::redirect("/a b/\xc3\xa4?q=\"x\"", 302); });
  all.get("/fail", [](http::request&) -> http::response { throw std::runtime_error("a fault of the handler"); });
  all.get("/stream/fail", [](http::request&) { return http::response::stream(fail_at_once, "text/plain"); });
  all.get("/empty", [](http::request&) { return http::response::no_content(); });
  all.post("/reject", [](http::request&) { return http::response::error(403); });
  all.get("/server", [](http::request&) { return text("named").set_field("Server", "mine"); });
  all.get("/static/{path...}", http::static_files(directory));
  return all;
}

gyre::task<> serve(const char* directory) {
  http::server_options options;
  options.listen = "127.0.0.1:0";
  options.routes = routes(directory);
  http::server server(std::move(options));
  const std::string where = server.where();
  std::puts(where.substr(where.rfind(':') + 1).c_str());
  std::fflush(stdout);
  co_await server.run();
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 2) return std::fputs("usage: gyre_framework_application DIRECTORY\n", stderr), 2;
  return gyre::run_main(serve(arguments[1]));
}
