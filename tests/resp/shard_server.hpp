// tests/resp/shard_server.hpp: a server with several loops beside a test, and clients that know the replies.
#pragma once

#include "programs/resp_server/request_batch.hpp"
#include "programs/resp_server/server.hpp"

#include <gyre/gyre.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <exception>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace resp_test {

using request = std::vector<std::string>;

inline std::string encoded(const request& arguments) {
  std::string text = "*" + std::to_string(arguments.size()) + "\r\n";
  for (const std::string& each : arguments) text += "$" + std::to_string(each.size()) + "\r\n" + each + "\r\n";
  return text;
}

/// A single shard, which gives the replies that are right.
class model {
 public:
  std::string operator()(const request& arguments) {
    const std::vector<std::string_view> views(arguments.begin(), arguments.end());
    resp::reply_buffer reply(std::size_t{1} << 30U);
    const resp::command* const found = resp::admit({views, shards_[0], resp::wall_clock(), reply});
    if (found == nullptr) return std::string(reply.view());
    resp::request_batch batch(shards_, 0);
    batch.add(*found, views);
    std::string all;
    for (bool joined = false; !joined; reply.clear()) {
      EXPECT_TRUE(batch.exchange().try_now());
      joined = batch.join(reply);
      all += reply.view();
      if (joined) continue;
      if (batch.next().overflow() != 0) batch.next().raise_limit(batch.next().overflow());
      if (!batch.next().has_reply()) continue;
      all += batch.next().next_reply();
      batch.skip();
    }
    return all;
  }

 private:
  resp::shard_set shards_{1, {}};
};

/// A client that reads as many bytes as it expects.
class client {
 public:
  explicit client(gyre::tcp_stream stream) : stream_(std::move(stream)) {}
  static gyre::task<client> connect(const gyre::address& where) {
    co_return client(co_await gyre::tcp_stream::connect(where));
  }

  gyre::task<> send(std::string_view bytes) { co_await stream_.write_all(bytes); }
  gyre::task<std::string> read(std::size_t bytes) {
    std::string text(bytes, '\0');
    co_await stream_.read_exactly(std::as_writable_bytes(std::span(text)));
    co_return text;
  }
  /// The reply to one request: an error, a status, a number or a bulk string.
  gyre::task<std::string> ask(const request& arguments) {
    const std::string bytes = encoded(arguments);
    co_await send(bytes);
    std::string line;
    while (!line.ends_with("\r\n")) line += co_await read(1);
    if (line[0] != '$' || line == "$-1\r\n") co_return line;
    co_return co_await read(std::stoul(line.substr(1)) + 2);
  }
  /// Reads to the end of the stream.
  gyre::task<std::string> rest() {
    std::string text;
    while (const gyre::buffer_lease received = co_await stream_.receive()) text += received.text();
    co_return text;
  }
  gyre::tcp_stream& stream() noexcept { return stream_; }

 private:
  gyre::tcp_stream stream_;
};

/// Runs `body(shards)` on the first of three loops.
template <class Body>
void on_three_loops(Body body, const resp::server_limits& limits = {}) {
  auto main = [&]() -> gyre::task<> {
    resp::shard_set shards(3, limits);
    co_await body(shards);
  };
  gyre::run(main, {.threads = 3});
}

struct sharded {
  std::size_t loops = 3;
  resp::server_limits limits = {};
  gyre::loop_options loop = {};
  gyre::accept_mode accept = gyre::accept_mode::one_acceptor;  // every loop gets connections
  std::chrono::nanoseconds drain = std::chrono::seconds(10);
};

/// Runs `body(address, shards)` on the first loop of a server, which then drains.
template <class Body>
void beside_shards(const sharded& options, Body body) {
  auto main = [&]() -> gyre::task<> {
    resp::shard_set shards(options.loops, options.limits);
    auto listener = gyre::tcp_listener::bind("127.0.0.1:0");
    const gyre::serve_options serve{.threads = 0, .accept = options.accept, .drain = options.drain};
    auto server = gyre::spawn(resp::serve_shards(listener, shards, serve), {.name = "server"});
    try {
      co_await body(listener.local_address(), shards);
    } catch (const std::exception& failure) {
      ADD_FAILURE() << failure.what();
    }
    server.cancel();
    co_await server.wait();
  };
  gyre::run(main, {.threads = options.loops, .loop = options.loop});
}

}  // namespace resp_test
