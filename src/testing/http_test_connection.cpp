// src/testing/http_test_connection.cpp: a strict client of HTTP/1.1, over a connection in memory.
#include <gyre/http/body_decoder.hpp>
#include <gyre/http/framing.hpp>
#include <gyre/http/head_parser.hpp>
#include <gyre/http/server.hpp>
#include <gyre/io/io_error.hpp>
#include <gyre/stream/memory_stream.hpp>
#include <gyre/tasks/spawn.hpp>
#include <gyre/testing/http_test_client.hpp>

#include "http_test_state.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <stdexcept>

namespace gyre::testing {
namespace {

using owned_fields = std::vector<std::pair<std::string, std::string>>;

owned_fields owned(std::span<const http::field> fields) {
  owned_fields all;
  for (const http::field& each : fields) all.emplace_back(each.name, each.value);
  return all;
}

bool has(const owned_fields& fields, std::string_view name) {
  return std::any_of(fields.begin(), fields.end(),
                     [&](const auto& each) { return http::equal_ignoring_case(each.first, name); });
}

std::string text_of_request(const std::string& method, const std::string& target, const owned_fields& fields,
                            const std::string& body) {
  std::string text = method + " " + target + " HTTP/1.1\r\n";
  if (!has(fields, "Host")) text += "Host: test\r\n";
  if (!body.empty() && !has(fields, "Content-Length") && !has(fields, "Transfer-Encoding"))
    text += "Content-Length: " + std::to_string(body.size()) + "\r\n";
  for (const auto& [name, value] : fields) text.append(name).append(": ").append(value).append("\r\n");
  return text + "\r\n" + body;
}

// A connection that is left alone sees its end in a later turn of the loop, when the client may
// be gone. So it shares the server.
task<> serve(std::shared_ptr<http::server> server, any_stream connection) {
  co_await server->serve_connection(std::move(connection));
}

http::server_options nowhere(http::server_options options) {
  options.listen.clear();
  return options;
}

http::server_options with_routes(http::handler routes) {
  http::server_options options;
  options.routes = std::move(routes);
  return options;
}

struct connected_client final : http_test_state {
  explicit connected_client(http::server_options&& options)
      : server(std::make_shared<http::server>(std::move(options))) {}

  task<http_answer> request(std::string method, std::string target, owned_fields fields, std::string body) override;
  task<std::string> exchange_bytes(std::string bytes, bool half_close) override;

  memory_stream connect() {
    memory_pair pair;
    spawn(serve(server, any_stream(std::move(pair.second))), {.name = "application"}).detach();
    return std::move(pair.first);
  }
  task<bool> receive() {
    std::array<std::byte, 16'384> buffer;
    std::size_t n = 0;
    try {
      n = co_await client.read_some(buffer);
    } catch (const io_error& error) {
      throw io_error(error.code(), "request", "the test");
    }
    received.append(reinterpret_cast<const char*>(buffer.data()), n);
    co_return n > 0;
  }
  task<> receive_or_fail() {
    const bool more = co_await receive();  // named: otherwise g++ 12 does not resume after it
    if (!more) fail_at_end();
  }
  [[noreturn]] static void fail_at_end() {
    throw io_error(make_error_code(stream_errc::end_of_stream), "request", "the test");
  }
  task<http_answer> read_answer(std::string method);
  task<> read_body(http::framing framing, http_answer& answer);

  std::shared_ptr<http::server> server;
  memory_stream client;
  bool connected = false;
  std::string received;
};

task<http_answer> connected_client::read_answer(std::string method) {
  for (;;) {
    http::head_parser parser(http::head_parser::kind::response);
    while (parser.parse(received) == http::parse_state::incomplete) co_await receive_or_fail();
    http::framing body;
    if (parser.error() != http::parse_error::none ||
        http::understand_response(parser, method, body) != http::parse_error::none)
      throw std::runtime_error("this is not HTTP: " + received);
    http_answer answer;
    answer.status = parser.status();
    answer.reason = parser.reason();
    answer.fields = owned(parser.fields());
    received.erase(0, parser.size());
    if (answer.status < 200 && answer.status != 101) continue;
    co_await read_body(body, answer);
    connected = body.keep_alive;
    co_return answer;
  }
}

task<> connected_client::read_body(http::framing framing, http_answer& answer) {
  http::body_decoder body;
  body.begin(framing);
  while (!body.at_end()) {
    std::string_view rest = received;
    answer.body.append(body.take(rest));
    received.erase(0, received.size() - rest.size());
    if (body.error() != http::parse_error::none) throw std::runtime_error("malformed chunks");
    if (!received.empty() || body.at_end()) continue;
    const bool more = co_await receive();
    if (!more && !body.end_of_stream()) fail_at_end();
  }
  answer.trailers = owned(body.trailers());
}

task<http_answer> connected_client::request(std::string method, std::string target, owned_fields fields,
                                            std::string body) {
  if (!connected) {
    received.clear();
    client = connect();
    connected = true;
  }
  const std::string text = text_of_request(method, target, fields, body);
  try {
    (void)co_await client.write_all(std::as_bytes(std::span(text)));
    co_return co_await read_answer(method);
  } catch (...) {
    connected = false;  // further bytes from it would belong to no request
    throw;
  }
}
task<std::string> connected_client::exchange_bytes(std::string bytes, bool half_close) {
  memory_stream connection = connect();
  std::string answer;
  std::array<std::byte, 16'384> buffer;
  try {
    (void)co_await connection.write_all(std::as_bytes(std::span(bytes)));
    if (half_close) co_await connection.shutdown_write();
  } catch (const io_error&) {  // the server has closed: read what it sent before
  }
  try {
    while (const std::size_t n = co_await connection.read_some(buffer))
      answer.append(reinterpret_cast<const char*>(buffer.data()), n);
  } catch (const io_error&) {  // the application has reset the connection: the answer was cut off
  }
  co_return answer;
}

}  // namespace

http_test_client::http_test_client(http::handler routes) : http_test_client(with_routes(std::move(routes))) {}
http_test_client::http_test_client(http::server_options options)
    : state_(new connected_client(nowhere(std::move(options)))) {}

}  // namespace gyre::testing
