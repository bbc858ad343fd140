// tests/client/random_test.cpp: many requests at once against a server that does anything, for many seeds.
#include "tests/client/scripted_server.hpp"
#include "tests/support/seeds.hpp"

#include <string>
#include <vector>

using namespace gyre_test;

namespace {

std::string body_of(std::size_t number, std::size_t size) {
  std::string text = std::to_string(number) + ":";
  while (text.size() < size) text += static_cast<char>('a' + (text.size() + number) % 26);
  return text;
}

/// A proper response to the request "GET /number/size", in some framing.
std::string response_to(const std::string& request, choices& random) {
  const std::size_t begin = request.find('/') + 1;
  const std::size_t number = std::stoul(request.substr(begin));
  const std::size_t size = std::stoul(request.substr(request.find('/', begin) + 1));
  const std::string body = body_of(number, size);
  if (random.one_in(2)) return "HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
  std::string text = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
  char length[20];
  for (std::size_t at = 0; at < body.size();) {
    const std::string piece = body.substr(at, random.size_up_to(5000));
    std::snprintf(length, sizeof(length), "%zx\r\n", piece.size());
    text += length + piece + "\r\n";
    at += piece.size();
  }
  return text + "0\r\n\r\n";
}

/// Answers, slowly, in pieces, cut off, late, twice or not at all.
gyre::task<> misbehave(peer& client, choices& random) {
  for (;;) {
    const std::string request = co_await client.request();
    if (request.empty()) co_return;
    std::string answer = response_to(request, random);
    if (random.one_in(30)) answer.resize(random.below(answer.size()));
    const bool cut = random.one_in(30);
    if (random.one_in(10)) co_await client.send("HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n");
    while (!answer.empty()) {
      const std::string piece = answer.substr(0, random.size_up_to(40'000));
      co_await client.send(piece);
      answer.erase(0, piece.size());
      if (random.one_in(3)) co_await gyre::yield_turn();
    }
    if (cut) co_return random.one_in(2) ? client.reset() : client.close();
    if (random.one_in(40)) co_return co_await client.send("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil");
    if (random.one_in(40)) co_return;
  }
}

}  // namespace

TEST(client_random, no_request_ever_gets_the_response_to_another) {
  for_each_seed(6, [](unsigned seed) {
    choices random(seed);
    const auto script = [&random](peer& client) -> gyre::task<> { co_await misbehave(client, random); };
    with_server(script, [&](scripted_server& server) -> gyre::task<> {
      http::client_options options;
      options.limits.connections_per_origin = random.between(1, 6);
      options.timeouts.first_byte = options.timeouts.between_bytes = 50ms;
      http::client client(options);
      std::size_t right = 0;
      auto ask = [&](std::size_t number) -> gyre::task<> {
        const std::size_t size = random.size_up_to(200'000);
        const std::string target = "/" + std::to_string(number) + "/" + std::to_string(size);
        const bool drops = random.one_in(10);
        try {
          auto response = co_await client.get(server.url(target));
          if (drops) co_return;
          const std::string body = co_await response.read_all();
          // No client can tell a response that nobody asked for from the next one, if it comes late enough.
          if (body == "evil") co_return;
          EXPECT_TRUE(body == body_of(number, size)) << number << " got " << body.substr(0, 20);
          ++right;
        } catch (const gyre::io_error&) {  // cut off, reset, or too late
        }
      };
      auto all = [&](gyre::task_group& group) -> gyre::task<> {
        std::vector<gyre::task_handle<void>> running;
        for (std::size_t i = 0; i < 60; ++i) {
          running.push_back(group.spawn(ask(i)));
          if (random.one_in(3)) co_await gyre::yield_turn();
          if (random.one_in(8)) running[random.below(running.size())].cancel();
        }
        co_await group.wait();
      };
      co_await gyre::task_group::scope(all);
      EXPECT_GT(right, 10U);
      EXPECT_EQ(client.counts().in_use, 0U);
      EXPECT_EQ(client.counts().waiting, 0U);
    });
  });
}
