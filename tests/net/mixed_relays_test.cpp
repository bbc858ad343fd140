// tests/net/mixed_relays_test.cpp: copy_bidirectional and copy_to_end between streams of several kinds, with pauses,
// cancels, time-outs and every kind of end. No byte is lost or doubled, and a part never looks like the whole.
// CONTRIBUTING.md says how to run it for longer.
#include <gyre/stream/copy.hpp>

#include <gyre/net/unix_stream.hpp>
#include <gyre/stream/memory_stream.hpp>

#include "tests/net/connected_pair.hpp"
#include "tests/net/random_loop.hpp"
#include "tests/net/small_segments.hpp"
#include "tests/net/stream_flow.hpp"

#include <array>
#include <concepts>
#include <stdexcept>
#include <system_error>
#include <utility>
#include <vector>

using namespace gyre_test;

namespace {

template <class Stream>
struct stream_ends {
  Stream outer;  // of the client or the server
  Stream inner;  // of the relay
};

template <class Stream>
gyre::task<stream_ends<Stream>> connect(choices& choose) {
  if constexpr (std::same_as<Stream, gyre::tcp_stream>) {
    auto pair = small_segment_pair();
    for (gyre::tcp_stream* each : {&pair.client, &pair.server})
      if (choose.one_in(3)) each->set_send_buffer_size(10'000);
    co_return stream_ends<Stream>{std::move(pair.client), std::move(pair.server)};
  } else if constexpr (std::same_as<Stream, gyre::unix_stream>) {
    auto pair = gyre::unix_stream::pair();
    co_return stream_ends<Stream>{std::move(pair.first), std::move(pair.second)};
  } else {
    gyre::memory_pair pair(choose.between(1'000, 100'000));
    co_return stream_ends<Stream>{std::move(pair.first), std::move(pair.second)};
  }
}

/// One direction through the relay, from `to` of its source to `from` of its sink.
template <class Source, class Sink>
struct direction {
  direction(unsigned number, Source& source, Sink& sink, std::size_t scale)
      : seed(number), choose(number), to(&source), from(&sink) {
    total = choose.between(0, 10) * 20'000 * scale;
  }

  unsigned seed;
  choices choose;
  Source* to;
  Sink* from;
  std::size_t total;
  std::size_t written = 0;  // or begun to be written
  std::size_t position = 0;
  finish end = finish::shut_down;
  bool ended = false;   // the reader has seen the end
  bool failed = false;  // the reader has seen an error
};

template <class Source, class Sink>
gyre::task<> write_direction(direction<Source, Sink>& all) {
  std::vector<std::byte> bytes;
  try {
    while (all.written < all.total) {
      const std::size_t most = all.total > 200'000 ? 600'000 : 150'000;
      bytes.resize(std::min(all.choose.size_up_to(most), all.total - all.written));
      fill(bytes, all.seed, all.written);
      all.written += bytes.size();
      co_await all.to->write_all(std::span<const std::byte>(bytes));
      co_await pause(all.choose);
    }
    if (all.end == finish::shut_down) co_await all.to->shutdown_write();
  } catch (const std::system_error&) {  // the relay has ended
  }
  if (all.end == finish::shut_down) co_return;
  if constexpr (std::same_as<Source, gyre::tcp_stream>) all.to->set_reset_on_close(all.end == finish::reset);
  *all.to = Source();
}

template <class Source, class Sink>
gyre::task<> read_direction(direction<Source, Sink>& all) {
  std::vector<std::byte> buffer(all.choose.one_in(2) ? 100'000 : all.choose.between(2'000, 10'000));
  try {
    while (!all.ended) {
      const std::size_t size = co_await all.from->read_some(std::span<std::byte>(buffer));
      all.ended = size == 0;
      const std::size_t same = matching(std::span(buffer).first(size), all.seed, all.position);
      all.position += same;
      if (same < size || all.position > all.written)
        throw std::runtime_error("byte " + std::to_string(all.position) + " of " + std::to_string(all.total) +
                                 " is another");
      co_await pause(all.choose);
    }
  } catch (const std::system_error&) {
    all.failed = true;
  }
}

enum class relay_outcome : std::uint8_t { complete, failed, interrupted };

template <class Left, class Right>
gyre::task<> relay_bytes(choices& choose, Left& left, Right& right, bool both_ways) {
  if (both_ways || choose.one_in(2)) {
    (void)co_await gyre::copy_bidirectional(left, right);
  } else if (choose.one_in(2)) {
    (void)co_await gyre::copy_to_end(left, right);
  } else {
    (void)co_await gyre::copy(left, right);
    co_await right.shutdown_write();
  }
}

/// Relays, and is perhaps interrupted. Closes the two streams of the relay at the end.
template <class Left, class Right>
gyre::task<relay_outcome> relay(choices& choose, Left& left, Right& right, bool both_ways) {
  relay_outcome result = relay_outcome::complete;
  auto copying = relay_bytes(choose, left, right, both_ways);
  try {
    switch (choose.below(4)) {
      case 0: {
        auto limited = gyre::timeout(std::chrono::microseconds(choose.below(10'000)), std::move(copying));
        co_await std::move(limited);
        break;
      }
      case 1: {
        auto task = gyre::spawn(std::move(copying));
        for (std::size_t n = choose.below(8); n > 0; --n) co_await pause(choose);
        task.cancel();
        co_await task;
        break;
      }
      default:
        co_await std::move(copying);
    }
  } catch (const gyre::timed_out&) {
    result = relay_outcome::interrupted;
  } catch (const gyre::task_cancelled&) {
    result = relay_outcome::interrupted;
  } catch (const std::system_error&) {
    result = relay_outcome::failed;
    right.abort();  // copy() leaves that to its caller
  }
  left = Left();
  right = Right();
  co_return result;
}

template <class Source, class Sink>
void expect_consistent(const direction<Source, Sink>& all, relay_outcome result, const char* name) {
  const auto place = std::string(name) + ": " + std::to_string(all.position) + " of " + std::to_string(all.total);
  if (result == relay_outcome::complete) {
    EXPECT_TRUE(all.ended) << place;
    EXPECT_EQ(all.position, all.total) << place;
  }
  // The reader of a connection that was cut off gets an error, unless it was the relay's program that closed it.
  if (result == relay_outcome::failed && all.ended) EXPECT_EQ(all.position, all.total) << place;
}

template <class Left, class Right>
gyre::task<> run_relay(unsigned seed, std::size_t scale = 1) {
  choices choose(seed);
  auto left = co_await connect<Left>(choose);
  auto right = co_await connect<Right>(choose);
  const bool both_ways = choose.one_in(2);
  direction<Left, Right> there(seed, left.outer, right.outer, scale);
  direction<Right, Left> back(seed + 1'000'000, right.outer, left.outer, scale);
  if (!both_ways) there.end = static_cast<finish>(choose.below(std::same_as<Left, gyre::tcp_stream> ? 3 : 2));
  auto copying = gyre::spawn(relay(choose, left.inner, right.inner, both_ways));
  std::vector<gyre::task_handle<void>> users;
  users.push_back(gyre::spawn(write_direction(there)));
  users.push_back(gyre::spawn(read_direction(there)));
  if (both_ways) {
    users.push_back(gyre::spawn(write_direction(back)));
    users.push_back(gyre::spawn(read_direction(back)));
  }
  for (auto& each : users) co_await each;
  if (!both_ways) right.outer = Right();
  const relay_outcome result = co_await copying;
  const bool is_reset = there.end == finish::reset;
  if (!(is_reset && result == relay_outcome::complete)) expect_consistent(there, result, "there");
  if (is_reset && result != relay_outcome::interrupted && there.ended) EXPECT_EQ(there.position, there.total);
  if (both_ways) expect_consistent(back, result, "back");
}

// A socket that has been destroyed gives its buffers back when its last request has ended.
gyre::task<> expect_nothing_is_held() {
  gyre::io::backend& backend = gyre::event_loop::current().backend();
  for (int n = 0; n < 100 && backend.buffers().in_use(); ++n) co_await settle();
  EXPECT_FALSE(backend.buffers().in_use());
  EXPECT_EQ(backend.pipes().in_use(), 0U);
  EXPECT_FALSE(backend.pipes().worth_it());
}

template <class Left, class Right>
void run_relays() {
  for_each_seed(12, [](unsigned seed) {
    auto body = [seed]() -> gyre::task<> {
      co_await run_relay<Left, Right>(seed);
      co_await expect_nothing_is_held();
    };
    gyre::run(body, loop_for(seed));
  });
}

}  // namespace

TEST(mixed_relays, between_tcp_streams_pass_on_each_byte_once_and_in_its_place) {
  run_relays<gyre::tcp_stream, gyre::tcp_stream>();
}

TEST(mixed_relays, between_unix_and_tcp_streams_pass_on_each_byte_once_and_in_its_place) {
  run_relays<gyre::unix_stream, gyre::tcp_stream>();
}

TEST(mixed_relays, between_streams_in_memory_and_tcp_streams_pass_on_each_byte_once_and_in_its_place) {
  run_relays<gyre::memory_stream, gyre::tcp_stream>();
}

TEST(mixed_relays, between_tcp_streams_and_streams_in_memory_pass_on_each_byte_once_and_in_its_place) {
  run_relays<gyre::tcp_stream, gyre::memory_stream>();
}

// Bulk goes through the pipes of the loop, and everything else beside it.
TEST(mixed_relays, several_at_once_pass_on_each_byte_once_and_in_its_place) {
  std::uint64_t lent = 0;
  for_each_seed(12, [&](unsigned seed) {
    auto body = [&, seed]() -> gyre::task<> {
      choices choose(seed);
      std::vector<gyre::task_handle<void>> all;
      for (unsigned n = static_cast<unsigned>(choose.between(2, 8)); n > 0; --n) {
        const unsigned number = seed * 100 + n;
        const std::size_t scale = choose.one_in(4) ? 1 : 20;
        if (choose.one_in(3))
          all.push_back(gyre::spawn(run_relay<gyre::unix_stream, gyre::tcp_stream>(number, scale)));
        else
          all.push_back(gyre::spawn(run_relay<gyre::tcp_stream, gyre::tcp_stream>(number, scale)));
      }
      for (auto& each : all) co_await each.wait();
      for (auto& each : all) co_await each;
      co_await expect_nothing_is_held();
      lent += gyre::event_loop::current().backend().pipes().lent();
    };
    gyre::run(body, loop_for(seed));
  });
  EXPECT_GT(lent, 0U) << "pipes have been used";
}
