// tests/net/mixed_reads_test.cpp: every way to read a stream, mixed at random, with cancels, time-outs and ends. Each
// byte arrives once and in order. CONTRIBUTING.md says how to run it for longer.
#include <gyre/net/socket_operations.hpp>

#include <gyre/net/unix_stream.hpp>

#include "tests/net/connected_pair.hpp"
#include "tests/net/random_loop.hpp"
#include "tests/net/stream_flow.hpp"

#include <array>
#include <concepts>
#include <stdexcept>

using namespace gyre_test;

namespace {

// Each function takes what has arrived, and returns whether that was the end.

template <class Stream>
gyre::task<step> receive_step(flow<Stream>& all) {
  auto receiving = all.from->receive();
  gyre::buffer_lease lease;
  if (all.choose.one_in(3))
    lease = co_await gyre::timeout(all.moment(), std::move(receiving));
  else
    lease = co_await std::move(receiving);
  all.take(lease.bytes());
  if (lease.empty()) co_return step::ended;
  if (all.kept.size() == 2) all.kept.clear();
  if (all.choose.one_in(3)) all.kept.push_back(std::move(lease));
  co_return step::went_on;
}

template <class Stream>
gyre::task<step> read_some_step(flow<Stream>& all) {
  std::vector<std::byte> buffer(all.in_haste > 0 ? 100'000 : all.choose.size_up_to(20'000));
  auto reading = all.from->read_some(buffer);
  std::size_t size = 0;
  if (all.choose.one_in(3))
    size = co_await gyre::timeout(all.moment(), std::move(reading));
  else
    size = co_await std::move(reading);
  all.take(std::span(buffer).first(size));
  co_return size == 0 ? step::ended : step::went_on;
}

template <class Stream>
gyre::task<step> read_exactly_step(flow<Stream>& all) {
  std::vector<std::byte> buffer(all.choose.size_up_to(20'000));
  auto reading = all.from->read_exactly(buffer);
  try {
    if (all.choose.one_in(3))
      co_await gyre::timeout(all.moment(), std::move(reading));
    else
      co_await std::move(reading);
  } catch (const gyre::incomplete_transfer& cut_off) {
    all.take(std::span(buffer).first(cut_off.transferred()));
    throw;
  }
  all.take(buffer);
  co_return step::went_on;
}

template <class Stream>
gyre::task<step> read_ahead(flow<Stream>& all) {
  std::string text;
  if (all.choose.one_in(2) && all.reader.buffered() == 0)
    text = co_await all.reader.read_exactly(all.choose.size_up_to(20'000));
  else
    text = co_await all.reader.read(all.choose.size_up_to(20'000));
  all.take(std::as_bytes(std::span(text)));
  co_return text.empty() ? step::ended : step::went_on;
}

template <class Stream>
gyre::task<step> read_with_descriptors(flow<Stream>& all) {
  std::vector<std::byte> buffer(all.choose.size_up_to(20'000));
  auto receiving = all.from->receive_descriptors(buffer);
  auto came = co_await gyre::as_expected(std::move(receiving));
  if (!came && came.error() == std::errc::device_or_resource_busy) co_return step::went_on;  // receive() reads ahead
  if (!came) throw gyre::io_error(came.error(), "receive_descriptors", {});
  all.take(std::span(buffer).first(came->size));
  all.descriptors += came->descriptors.size();
  co_return came->size == 0 ? step::ended : step::went_on;
}

template <class Stream>
gyre::task<step> wait_for_next(flow<Stream>& all) {
  auto waiting = all.from->next_or_stop();
  bool more = false;
  if (all.choose.one_in(3))
    more = co_await gyre::timeout(all.moment(), std::move(waiting));
  else
    more = co_await std::move(waiting);
  if (more && all.position == all.total) throw std::runtime_error("more than was sent");
  co_return more ? step::went_on : step::ended;
}

template <class Stream>
GYRE_CORO_WRAPPER gyre::task<step> read_somehow(flow<Stream>& all) {
  if (all.reader.buffered() > 0) return read_ahead(all);
  if (all.in_haste > 0) return read_some_step(all);
  switch (all.choose.below(7)) {
    case 0:
    case 1:
      return receive_step(all);
    case 6:
      return wait_for_next(all);
    case 2:
      return read_some_step(all);
    case 3:
      return read_exactly_step(all);
    case 4:
      return read_ahead(all);
    default:
      if constexpr (std::same_as<Stream, gyre::unix_stream>) return read_with_descriptors(all);
      return read_some_step(all);
  }
}

/// Reads in a separate task, which is cancelled midway.
template <class Stream>
gyre::task<step> read_and_cancel(flow<Stream>& all) {
  auto reading = gyre::spawn(read_somehow(all));
  co_await pause(all.choose);
  if (all.only_one && all.choose.one_in(2))
    all.from->cancel();
  else
    reading.cancel();
  co_await reading.wait();
  co_return reading.result();
}

template <class Stream>
gyre::task<step> read_once(flow<Stream>& all) {
  bool over = false;
  try {
    switch (all.choose.below(4)) {
      case 0: {
        auto limited = gyre::timeout(all.moment(), read_somehow(all));
        co_return co_await std::move(limited);
      }
      case 1:
        co_return co_await read_and_cancel(all);
      default:
        co_return co_await read_somehow(all);
    }
  } catch (const gyre::timed_out&) {  // it continues with the next read
  } catch (const gyre::task_cancelled&) {
  } catch (const std::system_error& error) {
    over = error.code() != std::errc::operation_canceled;
    const bool by_reset = error.code() == std::errc::connection_reset && all.end == finish::reset && all.has_left;
    if (over && !by_reset && error.code() != gyre::stream_errc::end_of_stream) throw;
  }
  co_return over&& all.reader.buffered() == 0 ? step::ended : step::went_on;
}

/// Lets the queue of receive() fill up, which ends the receive, and then reads without a pause, while the notice of the
/// end may still be in flight.
template <class Stream>
gyre::task<> let_it_fill(flow<Stream>& all) {
  for (std::size_t n = all.choose.between(30, 400); n > 0; --n) co_await gyre::yield();
  all.in_haste = 3;
}

template <class Stream>
gyre::task<> read_flow(flow<Stream>& all) {
  for (step last = step::went_on; last == step::went_on;) {
    if (all.choose.one_in(8)) all.from->socket().watch_end(all.choose.one_in(2) ? nullptr : &all.watch);
    last = co_await read_once(all);
    if (all.watch.ended_at_all && !all.has_left) throw std::runtime_error("an end was told before there was one");
    if (all.in_haste > 0 && --all.in_haste > 0) continue;
    if (all.choose.one_in(6))
      co_await let_it_fill(all);
    else
      co_await pause(all.choose);
  }
  all.kept.clear();
  all.from->socket().watch_end(nullptr);
  if (all.position != all.total && all.end != finish::reset)
    throw std::runtime_error("ended after " + std::to_string(all.position) + " of " + std::to_string(all.total));
}

template <class Stream>
gyre::task<> transfer(unsigned seed, Stream& first, Stream& second) {
  choices choose(seed);
  const bool both_ways = choose.one_in(3);
  flow<Stream> there(seed, first, second, !both_ways);
  flow<Stream> back(seed + 1'000'000, second, first, false);
  if (!both_ways) there.end = static_cast<finish>(choose.below(std::same_as<Stream, gyre::tcp_stream> ? 3 : 2));
  if (choose.one_in(3)) second.set_send_buffer_size(10'000);
  auto body = [&](gyre::task_group& group) -> gyre::task<> {
    group.spawn(write(there));
    group.spawn(read_flow(there));
    if (both_ways) {
      group.spawn(write(back));
      group.spawn(read_flow(back));
    }
    co_return;
  };
  co_await gyre::task_group::scope(body);
  EXPECT_LE(there.descriptors, 2 * there.total);
}

}  // namespace

TEST(mixed_reads, from_tcp_streams_give_each_byte_once_and_in_its_place) {
  for_each_seed(12, [](unsigned seed) {
    auto body = [seed]() -> gyre::task<> {
      auto pair = co_await connect_pair();
      co_await transfer(seed, pair.server, pair.client);
    };
    gyre::run(body, loop_for(seed));
  });
}

TEST(mixed_reads, from_unix_streams_give_each_byte_once_and_in_its_place) {
  for_each_seed(12, [](unsigned seed) {
    auto body = [seed]() -> gyre::task<> {
      auto pair = gyre::unix_stream::pair();
      co_await transfer(seed, pair.first, pair.second);
    };
    gyre::run(body, loop_for(seed));
  });
}
