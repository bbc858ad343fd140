// tests/client/relay_client.hpp: clients of a relay, which check each byte of a body.
#pragma once

#include "tests/client/relay.hpp"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace gyre_test {

enum class direction : std::uint8_t { download, upload };

class relay_client {
 public:
  explicit relay_client(gyre::tcp_stream stream)
      : stream_(std::make_unique<gyre::tcp_stream>(std::move(stream))), messages_(*stream_) {}
  static gyre::task<relay_client> connect(const relay& to) {
    auto stream = co_await gyre::tcp_stream::connect(to.where());
    co_return relay_client(std::move(stream));
  }
  [[nodiscard]] gyre::tcp_stream& stream() noexcept { return *stream_; }
  [[nodiscard]] checked_messages& messages() noexcept { return messages_; }

  /// Asks for a body, whose next byte is the first.
  gyre::task<> ask(ordered_body order, std::string method = "GET", std::string version = "1.1") {
    position_ = 0;
    (void)co_await stream_->write_all(method + " " + order.target() + " HTTP/" + version + "\r\nHost: a\r\n\r\n");
  }
  GYRE_CORO_WRAPPER gyre::task<std::string> head() { return messages_.head(); }
  /// Reads bytes of the body and checks them, `most` or fewer when the connection ends. Returns the number so far.
  gyre::task<std::size_t> read(unsigned seed, std::size_t most) {
    position_ = co_await messages_.take(seed, position_, most);
    co_return position_;
  }
  /// Asks for a body, and reads so much of it. Returns the bytes that came.
  gyre::task<std::size_t> get(ordered_body order, std::size_t most, std::string version = "1.1") {
    co_await ask(order, "GET", version);
    const std::string answered = co_await head();
    EXPECT_EQ(answered.substr(0, 12), "HTTP/1.1 200");
    co_return co_await read(order.seed, most);
  }
  /// Expects that the client reads less than it was promised, and then a reset.
  gyre::task<> expect_cut_off(ordered_body order) {
    EXPECT_LT(co_await read(order.seed, order.size), order.size) << "a part looks like the whole";
    EXPECT_TRUE(messages_.was_reset());
  }

  /// Begins to send a body.
  gyre::task<> begin(ordered_body order, std::string fields = {}) {
    (void)co_await stream_->write_all("PUT " + order.target() + " HTTP/1.1\r\nHost: a\r\nContent-Length: " +
                                      std::to_string(order.size) + "\r\n" + fields + "\r\n");
  }
  /// Sends so much of a body.
  gyre::task<> put(ordered_body order, std::size_t most) {
    co_await begin(order);
    (void)co_await messages_.give(order.seed, 0, most);
  }
  GYRE_CORO_WRAPPER gyre::task<std::string> answer() { return messages_.answer(); }

  /// Moves a whole body.
  gyre::task<> move(direction where, ordered_body order) {
    if (where == direction::download) {
      EXPECT_EQ(co_await get(order, order.size), order.size);
    } else {
      co_await put(order, order.size);
      const std::string answered = co_await answer();
      EXPECT_EQ(answered, "200 taken");
    }
    EXPECT_FALSE(messages_.has_more());
  }
  void leave() {
    stream_->set_reset_on_close(true);
    *stream_ = gyre::tcp_stream();
  }

 private:
  std::unique_ptr<gyre::tcp_stream> stream_;
  checked_messages messages_;
  std::size_t position_ = 0;
};

inline std::vector<ordered_body> several(std::string kind, std::size_t count = 4, std::size_t size = much) {
  std::vector<ordered_body> orders;
  for (unsigned n = 0; n < count; ++n) orders.push_back({kind, n, size});
  return orders;
}
inline std::vector<ordered_body> several(direction where, std::size_t count = 4, std::size_t size = much) {
  return several(where == direction::download ? "sized" : "take", count, size);
}

/// Moves several bodies at the same time, and several times over each connection.
inline gyre::task<> move_at_once(relay& server, direction where, std::vector<ordered_body> orders, int times = 1) {
  const auto one = [&](ordered_body order) -> gyre::task<> {
    auto client = co_await relay_client::connect(server);
    for (int n = 0; n < times; ++n) co_await client.move(where, order);
  };
  const auto all = [&](gyre::task_group& group) -> gyre::task<> {
    for (const ordered_body& each : orders) group.spawn(one(each));
    co_return;
  };
  co_await gyre::task_group::scope(all);
}

/// Two clients that each do this at the same time: bulk moves through pipes only when there are several.
template <class Visit>
gyre::task<> two_clients(relay& server, Visit visit) {
  const auto one = [&](unsigned seed) -> gyre::task<> {
    auto client = co_await relay_client::connect(server);
    co_await visit(client, seed);
  };
  auto both = gyre::gather(one(1), one(2));
  co_await std::move(both);
}

/// Two bodies that move through pipes until their receivers take no more.
class stalled_bodies {
 public:
  static constexpr std::size_t size = 40'000'000;

  stalled_bodies(relay& through, direction where) : server_(through), where_(where) {}
  gyre::task<> begin() {
    const std::uint64_t before = pipes().lent();
    for (unsigned n = 0; n < 2; ++n) {
      auto client = co_await relay_client::connect(server_);
      if (where_ == direction::download) client.stream().set_receive_buffer_size(100'000);
      clients.push_back(std::move(client));
    }
    if (where_ == direction::download)
      co_await read_until_bulk(before);
    else
      for (unsigned n = 0; n < 2; ++n) sending_.push_back(gyre::spawn(clients[n].put({"stall", n, size}, size)));
    for (int n = 0; n < 5000 && pipes().in_use() < 2; ++n) co_await gyre::sleep(1ms);
    EXPECT_GT(pipes().lent(), before);
    EXPECT_EQ(pipes().in_use(), 2U);
  }
  /// Expects that no part of a body looks like the whole.
  gyre::task<> end() {
    for (unsigned n = 0; n < 2 && where_ == direction::download; ++n) {
      const ordered_body order("sized", n, size);
      co_await clients[n].expect_cut_off(order);
    }
    for (auto& each : sending_) {
      each.cancel();
      co_await each.wait();
    }
  }

  std::vector<relay_client> clients;

 private:
  gyre::task<> read_until_bulk(std::uint64_t lent_before) {
    for (unsigned n = 0; n < 2; ++n) (void)co_await clients[n].get({"sized", n, size}, 0);
    for (std::size_t read = 0; read < 5 * much && (pipes().lent() == lent_before || pipes().in_use() < 2);) {
      read += 50'000;
      for (unsigned n = 0; n < 2; ++n) EXPECT_EQ(co_await clients[n].read(n, read), read);
      co_await gyre::sleep(1ms);
    }
  }

  relay& server_;
  direction where_;
  std::vector<gyre::task_handle<void>> sending_;
};

}  // namespace gyre_test
