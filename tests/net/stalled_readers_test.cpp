// tests/net/stalled_readers_test.cpp: a thousand connections on which one side does not read cost little memory, and
// lose nothing.
#include <gyre/gyre.hpp>

#include "tests/net/connected_pair.hpp"
#include "tests/net/loop_buffers.hpp"

#include <cstring>
#include <string>
#include <utility>
#include <vector>

using namespace gyre_test;

namespace {

constexpr std::size_t connections = 1'000;

/// The data of connection `number`: a part of the same pattern that begins elsewhere for each of them.
class numbered_data {
 public:
  explicit numbered_data(std::size_t size) : size_(size), all_(pattern(size + connections)) {}
  [[nodiscard]] std::span<const std::byte> of(std::size_t number) const {
    return std::span(all_).subspan(number, size_);
  }
  /// True when `piece` is what follows the first `position` bytes; adds its size to them.
  [[nodiscard]] bool continues(std::size_t number, std::size_t& position, std::span<const std::byte> piece) const {
    if (piece.size() > size_ - position) return false;
    const bool same = std::memcmp(of(number).data() + position, piece.data(), piece.size()) == 0;
    position += piece.size();
    return same;
  }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }

 private:
  std::size_t size_;
  std::vector<std::byte> all_;
};

/// Reads the rest of connection `number` to its end.
gyre::task<> expect_rest(gyre::tcp_stream& from, const numbered_data& data, std::size_t number, std::size_t position) {
  for (;;) {
    const gyre::buffer_lease piece = co_await from.receive();
    if (piece.empty()) break;
    if (!data.continues(number, position, piece.bytes())) {
      ADD_FAILURE() << "connection " << number << " differs before byte " << position;
      co_return;
    }
  }
  EXPECT_EQ(position, data.size()) << "connection " << number;
}

gyre::task<> send_all(gyre::tcp_stream& to, std::span<const std::byte> bytes) {
  co_await to.write_all(bytes);
  co_await to.shutdown_write();
}

/// Runs `body` on a loop whose pool has `count` common and `large` large buffers.
template <class Body>
void run_with_buffers(std::uint32_t count, std::uint32_t large, Body body) {
  auto limited = [&body]() -> gyre::task<> { co_await gyre::timeout(120s, body); };
  gyre::run_options options;
  options.loop.backend.buffer_count = count;
  options.loop.backend.large_buffer_count = large;
  EXPECT_NO_THROW(gyre::run(limited, options));
}
template <class Body>
void run_with_buffers(std::uint32_t count, Body body) {
  run_with_buffers(count, gyre::io::backend_options().large_buffer_count, std::move(body));
}

/// A connection whose server has received something, and reads no more until the test lets it.
struct unread {
  connected_pair pair;
  gyre::task_handle<void> sending;
  gyre::buffer_lease held;
  std::size_t taken = 0;
};

/// `holds`: the servers keep the first lease, too.
gyre::task<> stall_readers(bool holds) {
  const numbered_data data(40'000);
  std::vector<unread> all(connections);
  for (std::size_t i = 0; i < all.size(); ++i) {
    unread& each = all[i];
    each.pair = co_await connect_pair();
    each.sending = gyre::spawn(send_all(each.pair.client, data.of(i)));
    each.held = co_await each.pair.server.receive();  // it receives ahead from now on
    EXPECT_TRUE(data.continues(i, each.taken, each.held.bytes()));
    if (!holds) each.held.release();
  }
  for (unread& each : all) co_await each.sending;  // the kernel has taken all of it
  co_await settle();
  // Arriving data takes three quarters of the pool. Leases can be held of the others.
  EXPECT_LE(common_in_use(), pool().count() / 4 * 3 + 1);

  connected_pair other = co_await connect_pair();  // is served meanwhile
  auto sending = gyre::spawn(send_all(other.client, data.of(7)));
  co_await gyre::timeout(20s, expect_rest(other.server, data, 7, 0));
  co_await sending;

  for (std::size_t i = 0; i < all.size(); ++i) {
    all[i].held.release();
    co_await expect_rest(all[i].pair.server, data, i, all[i].taken);
  }
  EXPECT_FALSE(pool().in_use());
}

}  // namespace

TEST(stalled_readers, that_receive_ahead_leave_a_quarter_of_the_pool_and_lose_nothing) {
  for (const std::uint32_t count : {1024U, 64U, 4U}) {
    auto body = []() -> gyre::task<> { co_await stall_readers(false); };
    run_with_buffers(count, body);
  }
}

TEST(stalled_readers, that_keep_their_leases_leave_a_quarter_of_the_pool_and_lose_nothing) {
  for (const std::uint32_t count : {1024U, 64U, 4U}) {
    auto body = []() -> gyre::task<> { co_await stall_readers(true); };
    run_with_buffers(count, body);
  }
}

TEST(stalled_readers, have_on_average_at_most_two_buffers_each_besides_the_pool) {
  run_with_buffers(64, 1, []() -> gyre::task<> {
    const numbered_data data(200'000);
    std::vector<unread> all(200);
    for (std::size_t i = 0; i < all.size(); ++i) {
      all[i].pair = co_await connect_pair();
      all[i].sending = gyre::spawn(send_all(all[i].pair.client, data.of(i)));
      all[i].held = co_await all[i].pair.server.receive();
      EXPECT_TRUE(data.continues(i, all[i].taken, all[i].held.bytes()));
    }
    co_await settle();
    std::size_t bytes = 0;  // what was not received into the pool is one lease
    for (std::size_t i = 0; i < all.size(); ++i) {
      all[i].held = co_await all[i].pair.server.receive();
      EXPECT_TRUE(data.continues(i, all[i].taken, all[i].held.bytes()));
      bytes += all[i].held.size();
    }
    EXPECT_LE(bytes, pool().large_size() + all.size() * 2 * pool().buffer_size());
    for (std::size_t i = 0; i < all.size(); ++i) {
      all[i].held.release();
      co_await expect_rest(all[i].pair.server, data, i, all[i].taken);
      co_await all[i].sending;
    }
  });
}

TEST(stalled_readers, wait_while_the_pool_is_exhausted_and_lose_nothing) {
  run_with_buffers(64, []() -> gyre::task<> {
    const numbered_data data(100'000);
    std::vector<unread> all(50);
    for (unread& each : all) each.pair = co_await connect_pair();
    std::vector<std::uint32_t> taken;
    while (pool().available() > 0) taken.push_back(pool().take());
    while (pool().large_available() > 0) taken.push_back(pool().take_large());
    std::vector<gyre::task_handle<void>> readers;
    for (std::size_t i = 0; i < all.size(); ++i) {
      all[i].sending = gyre::spawn(send_all(all[i].pair.client, data.of(i)));
      readers.push_back(gyre::spawn(expect_rest(all[i].pair.server, data, i, 0)));
    }
    for (int n = 0; n < 10; ++n) co_await settle();
    EXPECT_EQ(pool().available() + pool().large_available(), 0U);
    for (const std::uint32_t each : taken) pool().release(each);
    for (auto& each : readers) co_await each;
    for (unread& each : all) co_await each.sending;
    EXPECT_FALSE(pool().in_use());
  });
}

// The kernel holds a bounded number of bytes of each connection, and the library none: the rest stays where the
// program has it.
TEST(stalled_readers, cost_a_server_that_writes_no_buffer_and_get_all_bytes_when_they_go_on) {
  run_with_buffers(1024, []() -> gyre::task<> {
    const numbered_data data(300'000);
    std::vector<unread> all(connections);
    for (std::size_t i = 0; i < all.size(); ++i) {
      all[i].pair = co_await connect_pair();
      all[i].pair.server.set_send_buffer_size(10'000);
      all[i].sending = gyre::spawn(send_all(all[i].pair.server, data.of(i)));
    }
    for (int n = 0; n < 10; ++n) co_await settle();
    std::size_t ended = 0;
    for (const unread& each : all) ended += each.sending.done() ? 1 : 0;
    EXPECT_EQ(ended, 0U);
    EXPECT_FALSE(pool().in_use());

    connected_pair other = co_await connect_pair();  // is served meanwhile
    auto sending = gyre::spawn(send_all(other.server, data.of(7)));
    co_await gyre::timeout(20s, expect_rest(other.client, data, 7, 0));
    co_await sending;

    for (std::size_t i = 0; i < all.size(); ++i) {
      co_await expect_rest(all[i].pair.client, data, i, 0);
      co_await all[i].sending;
    }
    EXPECT_FALSE(pool().in_use());
  });
}

TEST(stalled_readers, with_small_first_messages_leave_buffers_to_the_others_even_in_a_tiny_pool) {
  for (const std::uint32_t count : {1U, 2U, 4U, 16U}) {
    run_with_buffers(count, 1, [count]() -> gyre::task<> {
      std::vector<connected_pair> unread;
      for (std::uint32_t i = 0; i <= count; ++i) {
        unread.push_back(co_await connect_pair());
        const auto nothing = co_await gyre::as_expected(gyre::timeout(1ms, unread.back().server.receive()));
        EXPECT_FALSE(nothing.has_value());  // the stream receives ahead from now on
        const std::string message = i < count ? "small" : std::string(50'000, 'L');
        co_await unread.back().client.write_all(message);
        co_await settle();
      }
      connected_pair other = co_await connect_pair();
      co_await other.client.write_all("hello");
      const gyre::buffer_lease lease = co_await gyre::timeout(20s, other.server.receive());
      EXPECT_EQ(lease.text(), "hello");
    });
  }
}
