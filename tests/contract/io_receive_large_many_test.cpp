// tests/contract/io_receive_large_many_test.cpp: opcode::receive_large_many where it differs from receive_many, whose
// tests run for both.
#include "tests/contract/io_contract_fixture.hpp"

#include <memory>

namespace gyre::contract {
namespace {

class io_receive_large_many : public io_contract {
 protected:
  void begin_with(std::uint32_t count, std::uint32_t size) {
    io::backend_options options = turning_backend::small();
    options.large_buffer_count = count;
    options.large_buffer_size = size;
    begin(options);
  }
};

struct party {
  owned_fd peer;
  std::unique_ptr<endpoint> ours;
  std::unique_ptr<many> received;
  std::size_t stuffed = 0;
};

TEST_P(io_receive_large_many, fills_large_buffers) {
  connection c = unix_connection();
  endpoint ours(backend, std::move(c.ours));
  const std::string bytes = random_bytes(6'000, 1);
  say(c.peer, bytes);
  many m(backend, io::opcode::receive_large_many, ours);
  submit(m);
  ASSERT_TRUE(backend.turn_until([&] { return m.bytes.size() == bytes.size(); }));
  EXPECT_EQ(m.bytes, bytes);
  EXPECT_EQ(m.sizes, (std::vector<std::size_t>{4096, 6'000 - 4096}));
  stop(m);
}

TEST_P(io_receive_large_many, leaves_every_buffer_with_the_pool_while_nothing_comes) {
  connection c = tcp_connection();
  endpoint ours(backend, std::move(c.ours));
  const std::uint32_t common = backend->buffers().available();
  many m(backend, io::opcode::receive_large_many, ours);
  submit(m);
  backend.settle();
  EXPECT_EQ(backend->buffers().large_available(), backend->buffers().large_count());
  EXPECT_EQ(backend->buffers().available(), common);
  stop(m);
}

TEST_P(io_receive_large_many, ends_when_no_buffer_is_free_and_loses_nothing) {
  connection c = tcp_connection();
  endpoint ours(backend, std::move(c.ours));
  const std::string bytes = random_bytes(60'000, 2);
  say(c.peer, bytes);
  many m(backend, io::opcode::receive_large_many, ours);
  m.keeps_buffers = true;
  submit(m);
  ASSERT_TRUE(backend.turn_until([&] { return m.ended(); }));
  EXPECT_EQ(m.last_result, -ENOBUFS);
  EXPECT_EQ(m.kept.size(), backend->buffers().large_count());
  m.release_kept();
  m.keeps_buffers = false;
  m.code = io::opcode::receive_many;  // as its owner goes on
  submit(m);
  ASSERT_TRUE(backend.turn_until([&] { return m.bytes.size() == bytes.size(); }));
  EXPECT_EQ(m.bytes, bytes);
  stop(m);
}

TEST_P(io_receive_large_many, without_large_buffers_ends_at_the_first_byte) {
  begin_with(0, 4096);
  connection c = tcp_connection();
  endpoint ours(backend, std::move(c.ours));
  many m(backend, io::opcode::receive_large_many, ours);
  submit(m);
  backend.settle();
  EXPECT_FALSE(m.ended());
  say(c.peer, "kept");
  ASSERT_TRUE(backend.turn_until([&] { return m.ended(); }));
  EXPECT_EQ(m.last_result, -ENOBUFS);
  EXPECT_EQ(received_by(ours.socket()), "kept");
}

TEST_P(io_receive_large_many, all_together_move_a_bounded_number_of_bytes_in_a_turn_and_each_has_its_turn) {
  constexpr std::size_t share = std::size_t{128} << 10U;
  constexpr std::size_t buffer = std::size_t{64} << 10U;
  begin_with(64, buffer);
  std::vector<party> all(12);
  for (party& each : all) {
    connection c = unix_connection();
    const int size = 1 << 20;
    ::setsockopt(c.peer.get(), SOL_SOCKET, SO_SNDBUFFORCE, &size, sizeof(size));
    each.peer = std::move(c.peer);
    each.ours = std::make_unique<endpoint>(backend, std::move(c.ours));
    each.received = std::make_unique<many>(backend, io::opcode::receive_large_many, *each.ours);
    submit(*each.received);
  }
  backend.settle();
  for (party& each : all) each.stuffed = fill(each.peer);
  const auto received = [&] {
    std::size_t sum = 0;
    for (const party& each : all) sum += each.received->bytes.size();
    return sum;
  };
  std::size_t stuffed = 0;
  for (const party& each : all) stuffed += each.stuffed;
  bool each_has_some = false;
  for (const io::monotonic_time end = now() + patience; received() < stuffed;) {
    ASSERT_LT(now(), end);
    const std::size_t before = received();
    backend.turn(now() + 20 * milliseconds);
    EXPECT_LT(received() - before, share + buffer);
    const bool had_some = std::exchange(
        each_has_some, std::all_of(all.begin(), all.end(), [](const party& p) { return !p.received->bytes.empty(); }));
    if (each_has_some && !had_some) {
      for (const party& each : all) EXPECT_LE(each.received->bytes.size(), 4 * buffer) << "before the last had any";
    }
  }
  for (party& each : all) stop(*each.received);
}

INSTANTIATE_TEST_SUITE_P(backends, io_receive_large_many, every_backend, backend_name);

}  // namespace
}  // namespace gyre::contract
