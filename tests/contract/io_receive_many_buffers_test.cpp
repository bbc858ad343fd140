// tests/contract/io_receive_many_buffers_test.cpp: opcode::receive_many when the pool is empty.
#include "tests/contract/io_contract_fixture.hpp"

#include <deque>
#include <thread>

namespace gyre::contract {
namespace {

/// A receiver that keeps its buffers.
struct keeping_receiver : receiver {
  explicit keeping_receiver(turning_backend& performer)
      : receiver(performer, io::opcode::receive_many, tcp_connection()) {
    keeps_buffers = true;
  }
};

class io_receive_many_buffers : public io_contract {
 protected:
  /// The smallest number of buffers that is of interest.
  void begin_with_two_buffers() {
    io::backend_options options = turning_backend::small();
    options.buffer_count = 2;
    options.buffer_size = 256;
    begin(options);
  }
  /// Its peer sends these bytes, until it has both buffers.
  void exhaust(keeping_receiver& m, std::string_view bytes) {
    submit(m);
    say(m.peer, bytes);
    EXPECT_TRUE(backend.turn_until([&] { return m.kept.size() == 2; }));
  }
};

TEST_P(io_receive_many_buffers, waits_for_a_buffer_and_loses_nothing) {
  begin_with_two_buffers();
  keeping_receiver m(backend);
  const std::string bytes = random_bytes(10'000, 22);
  exhaust(m, bytes);
  backend.settle();
  EXPECT_EQ(m.kept.size(), 2U);
  EXPECT_FALSE(m.ended()) << "an empty pool is not an end: " << m.last_result;
  EXPECT_EQ(backend->in_flight(), 1U);
  while (m.bytes.size() < bytes.size()) {
    m.release_kept();
    const std::size_t before = m.bytes.size();
    ASSERT_TRUE(backend.turn_until([&] { return m.bytes.size() > before; })) << before;
    ASSERT_LE(m.kept.size(), 2U);
  }
  m.release_kept();
  EXPECT_EQ(m.bytes, bytes);
  m.peer.close();
  EXPECT_EQ(result_of(m), 0);
}

TEST_P(io_receive_many_buffers, a_delivery_that_cancels_is_one_of_the_last_while_many_buffers_are_held) {
  keeping_receiver holder(backend);
  submit(holder);
  say(holder.peer, random_bytes(20'000, 24));
  ASSERT_TRUE(backend.turn_until([&] { return holder.bytes.size() == 20'000; }));
  ASSERT_TRUE(backend->buffers().fills_up());

  receiver m(backend, io::opcode::receive_many, tcp_connection());
  const std::string bytes = random_bytes(40'000, 25);
  say(m.peer, bytes);
  m.on_delivery = [&](int) { m.cancel(); };
  perform(m);
  EXPECT_LE(m.sizes.size(), 4U);
  EXPECT_EQ(m.bytes + received_by(m.socket()), bytes);

  many rest(backend, io::opcode::receive_many, m);
  submit(rest);
  say(m.peer, bytes);
  ASSERT_TRUE(backend.turn_until([&] { return rest.bytes.size() == bytes.size(); }));
  EXPECT_EQ(rest.bytes, bytes);
  stop(rest);
  holder.release_kept();
  stop(holder);
}

// On a thread of its own. While the kernel takes down the rings of earlier tests, it interrupts the waits of the thread
// that has used them (EINTR without a signal), and each of these waits is one call more.
TEST_P(io_receive_many_buffers, an_idle_wait_for_a_buffer_does_not_spin) {
  const auto wait_for_buffer = [this] {
    keeping_receiver m(backend);
    exhaust(m, random_bytes(2'000, 23));
    backend.settle();
    EXPECT_LE(backend.calls_of([&] {
      const io::monotonic_time end = now() + 20 * milliseconds;
      while (now() < end) backend.turn(end);
    }),
              8U);
    m.release_kept();
    m.keeps_buffers = false;
    ASSERT_TRUE(backend.turn_until([&] { return m.bytes.size() == 2'000; }));
    stop(m);
  };
  std::thread([&] {
    begin_with_two_buffers();
    wait_for_buffer();
    backend.destroy();
  }).join();
}

TEST_P(io_receive_many_buffers, can_be_cancelled_while_it_waits_for_a_buffer) {
  begin_with_two_buffers();
  keeping_receiver m(backend);
  const std::string bytes = random_bytes(3'000, 24);
  exhaust(m, bytes);
  backend.settle();
  EXPECT_EQ(stop(m), -ECANCELED);
  m.release_kept();
  backend.settle();
  EXPECT_EQ(m.bytes + received_by(m.socket()), bytes);
}

TEST_P(io_receive_many_buffers, shares_few_buffers_between_all_that_want_one) {
  begin_with_two_buffers();
  std::deque<keeping_receiver> all;
  for (int i = 0; i < 6; ++i) submit(all.emplace_back(backend));
  const auto bytes_of = [](std::size_t i) { return random_bytes(5'000, static_cast<std::uint32_t>(30 + i)); };
  for (std::size_t i = 0; i < all.size(); ++i) say(all[i].peer, bytes_of(i));
  const auto everything_arrived = [&] {
    return std::all_of(all.begin(), all.end(), [](const receiver& m) { return m.bytes.size() == 5'000; });
  };
  for (std::size_t rounds = 0; !everything_arrived() && rounds < 2'000; ++rounds) {
    backend.turn(now() + 50 * milliseconds);
    for (receiver& m : all) m.release_kept();
  }
  for (std::size_t i = 0; i < all.size(); ++i) EXPECT_EQ(all[i].bytes, bytes_of(i));
  for (receiver& m : all) stop(m);
}

TEST_P(io_receive_many_buffers, an_end_is_seen_after_a_wait_for_buffers) {
  begin_with_two_buffers();
  keeping_receiver m(backend);
  exhaust(m, std::string(512, 'x'));  // exactly the size of the pool
  m.peer.close();
  backend.settle();
  m.release_kept();
  EXPECT_EQ(result_of(m), 0);
}

INSTANTIATE_TEST_SUITE_P(backends, io_receive_many_buffers,
                         ::testing::ValuesIn(every_kernel_with({io::opcode::receive_many})), backend_name);

// ---- receives into large buffers

class io_receive_large_many : public io_contract {
 protected:
  void begin_with(std::uint32_t count, std::uint32_t size) {
    io::backend_options options = turning_backend::small();
    options.large_buffer_count = count;
    options.large_buffer_size = size;
    begin(options);
  }
};

TEST_P(io_receive_large_many, fills_large_buffers) {
  receiver m(backend, io::opcode::receive_large_many, unix_connection());
  const std::string bytes = random_bytes(6'000, 1);
  say(m.peer, bytes);
  submit(m);
  ASSERT_TRUE(backend.turn_until([&] { return m.bytes.size() == bytes.size(); }));
  EXPECT_EQ(m.bytes, bytes);
  EXPECT_EQ(m.sizes, (std::vector<std::size_t>{4096, 6'000 - 4096}));
  stop(m);
}

TEST_P(io_receive_large_many, leaves_every_buffer_with_the_pool_while_nothing_comes) {
  receiver m(backend, io::opcode::receive_large_many, tcp_connection());
  const std::uint32_t common = backend->buffers().available();
  begin_to_wait(m);
  EXPECT_EQ(backend->buffers().large_available(), backend->buffers().large_count());
  EXPECT_EQ(backend->buffers().available(), common);
  stop(m);
}

TEST_P(io_receive_large_many, ends_when_no_buffer_is_free_and_loses_nothing) {
  receiver m(backend, io::opcode::receive_large_many, tcp_connection());
  const std::string bytes = random_bytes(60'000, 2);
  say(m.peer, bytes);
  m.keeps_buffers = true;
  EXPECT_EQ(perform(m), -ENOBUFS);
  EXPECT_EQ(m.kept.size(), backend->buffers().large_count());
  m.release_kept();
  m.keeps_buffers = false;
  m.code = io::opcode::receive_many;  // as its owner goes on
  submit(m);
  ASSERT_TRUE(backend.turn_until([&] { return m.bytes.size() == bytes.size(); }));
  EXPECT_EQ(m.bytes, bytes);
  stop(m);
}

TEST_P(io_receive_large_many, ends_at_the_first_byte_where_there_are_no_large_buffers) {
  begin_with(0, 4096);
  receiver m(backend, io::opcode::receive_large_many, tcp_connection());
  begin_to_wait(m);
  say(m.peer, "kept");
  EXPECT_EQ(result_of(m), -ENOBUFS);
  EXPECT_EQ(received_by(m.socket()), "kept");
}

TEST_P(io_receive_large_many, all_together_move_a_bounded_number_of_bytes_in_a_turn_and_each_has_its_turn) {
  constexpr std::size_t share = std::size_t{128} << 10U;
  constexpr std::size_t buffer = std::size_t{64} << 10U;
  begin_with(64, buffer);
  std::deque<receiver> all;
  for (int i = 0; i < 12; ++i) {
    receiver& each = all.emplace_back(backend, io::opcode::receive_large_many, unix_connection());
    const int size = 1 << 20;
    ::setsockopt(each.peer.get(), SOL_SOCKET, SO_SNDBUFFORCE, &size, sizeof(size));
    submit(each);
  }
  backend.settle();
  std::size_t stuffed = 0;
  for (receiver& each : all) stuffed += fill(each.peer);
  const auto received = [&] {
    std::size_t sum = 0;
    for (const receiver& each : all) sum += each.bytes.size();
    return sum;
  };
  bool each_has_some = false;
  for (const io::monotonic_time end = now() + patience; received() < stuffed;) {
    ASSERT_LT(now(), end);
    const std::size_t before = received();
    backend.turn(now() + 20 * milliseconds);
    EXPECT_LT(received() - before, share + buffer);
    const bool had_some = std::exchange(
        each_has_some, std::all_of(all.begin(), all.end(), [](const receiver& m) { return !m.bytes.empty(); }));
    if (each_has_some && !had_some) {
      for (const receiver& each : all) EXPECT_LE(each.bytes.size(), 4 * buffer) << "before the last had any";
    }
  }
  for (receiver& each : all) stop(each);
}

INSTANTIATE_TEST_SUITE_P(backends, io_receive_large_many, every_backend, backend_name);

// ---- both

class io_receive_multishot : public io_contract {};

TEST_P(io_receive_multishot, goes_on_before_its_completion_has_been_called) {
  receiver m(backend, GetParam().code, unix_connection());
  submit(m);
  const std::size_t stuffed = fill(m.peer);
  const io::monotonic_time begun = now();
  while (m.bytes.size() < stuffed && now() < begun + patience) backend.collect(begun + patience);
  EXPECT_EQ(m.bytes.size(), stuffed);
  EXPECT_EQ(m.completions, 0);
  EXPECT_LT(now() - begun, patience / 2) << "it waited although there was more";
  backend.run_ready();
  EXPECT_EQ(m.completions, 1);
  stop(m);
}

INSTANTIATE_TEST_SUITE_P(backends, io_receive_multishot,
                         ::testing::ValuesIn(every_backend_with({io::opcode::receive_many,
                                                                 io::opcode::receive_large_many})),
                         operation_name);

}  // namespace
}  // namespace gyre::contract
