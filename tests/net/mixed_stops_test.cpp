// tests/net/mixed_stops_test.cpp: servers that stop at a random moment, while clients send records in random pieces. No
// part of a record passes for a record, and no cut-off connection for one that has ended.
#include <gyre/net/start_server.hpp>

#include <gyre/net/unix_listener.hpp>

#include "tests/net/connected_pair.hpp"
#include "tests/net/random_loop.hpp"
#include "tests/net/random_pause.hpp"

#include <array>
#include <concepts>
#include <stdexcept>

using namespace gyre_test;

namespace {

/// A record is its size, in two bytes, and as many bytes that show their position. The answer is its size.
constexpr std::size_t head_size = 2;

struct traffic {
  explicit traffic(unsigned number) : seed(number), choose(number), cuts(choose.one_in(3)) {}

  unsigned seed;
  choices choose;
  bool cuts;  // the drain is too short for some
  int executed = 0;
  int answered = 0;
  int cancelled = 0;

  /// The sums of all seeds. A scenario that ends before anything has happened proves nothing.
  struct totals {
    int executed = 0;
    int cancelled = 0;
  };
  void add_to(totals& sum) const {
    sum.executed += executed;
    sum.cancelled += cancelled;
  }

  static void expect_work_done(const totals& sum) {
    if (number_from_environment("GYRE_SEEDS", 12) < 12) return;
    EXPECT_GT(sum.executed, 100);
    EXPECT_GT(sum.cancelled, 0);
  }

  void execute(std::string_view record) {
    const std::size_t size = record.size();
    if (matching(std::as_bytes(std::span(record)), static_cast<unsigned>(size), 0) != size)
      throw std::runtime_error("a record has other bytes");
    ++executed;
  }
};

std::size_t size_in(std::string_view head) {
  return std::size_t{static_cast<unsigned char>(head[0])} << 8U | static_cast<unsigned char>(head[1]);
}

std::string record_of(std::size_t size) {
  std::string record{static_cast<char>(size >> 8U), static_cast<char>(size & 255U)};
  const std::vector<std::byte> bytes = pattern(size, static_cast<unsigned>(size));
  record.append(reinterpret_cast<const char*>(bytes.data()), size);
  return record;
}

template <class Stream>
gyre::task<bool> next_of(traffic& all, Stream& peer) {
  for (;;) {
    if (!all.choose.one_in(4)) co_return co_await peer.next_or_stop();
    const auto limited = co_await gyre::as_expected(
        gyre::timeout(std::chrono::microseconds(all.choose.below(300)), peer.next_or_stop()));
    if (limited) co_return *limited;
    if (limited.error() != std::errc::timed_out) throw gyre::io_error(limited.error(), "next_or_stop", {});
  }
}

template <class Stream>
gyre::task<> serve_stream(traffic& all, Stream& peer) {
  for (;;) {
    const bool more = co_await next_of(all, peer);
    if (!more) co_return;
    std::string head(head_size, ' ');
    co_await peer.read_exactly(std::span(head));
    std::string body(size_in(head), ' ');
    if (all.choose.one_in(4)) co_await pause(all.choose);
    co_await peer.read_exactly(std::span(body));
    all.execute(body);
    co_await peer.write_all(head);
  }
}

gyre::task<> serve_reader(traffic& all, gyre::stream_reader& reader, gyre::stream_writer& writer) {
  for (;;) {
    const bool more = co_await reader.next_or_stop();
    if (!more) co_return;
    const std::string head = co_await reader.read_exactly(head_size);
    if (all.choose.one_in(4)) co_await pause(all.choose);
    const std::string body = co_await reader.read_exactly(size_in(head));
    all.execute(body);
    writer.write(head);
    co_await writer.drain();
  }
}

/// Sends records, each to its end, and counts the answers. Ends when the server does.
template <class Stream>
gyre::task<> speak(traffic& all, Stream stream) {
  const auto send = [&]() -> gyre::task<> {
    for (std::size_t n = all.choose.below(30); n > 0; --n) {
      const std::string record = record_of(all.choose.size_up_to(20'000));
      for (std::size_t sent = 0; sent < record.size();) {
        const std::size_t piece = std::min(record.size() - sent, all.choose.size_up_to(record.size()));
        co_await stream.write_all(std::string_view(record).substr(sent, piece));
        sent += piece;
        if (all.choose.one_in(3)) co_await pause(all.choose);
      }
    }
    if (all.choose.one_in(2)) co_await stream.shutdown_write();
  };
  const auto read = [&]() -> gyre::task<> {
    std::array<char, head_size> answer{};
    for (;;) {
      const std::size_t size = co_await stream.read_some(std::span(answer).first(1));
      if (size == 0) co_return;
      co_await stream.read_exactly(std::span(answer).subspan(1));  // an answer is never cut off by an end
      ++all.answered;
    }
  };
  auto sending = gyre::spawn(send());
  try {
    co_await read();
  } catch (const gyre::io_error& error) {
    // A server that closes with unread bytes resets, too.
    if (error.code() != std::errc::connection_reset) throw;
  }
  sending.cancel();
  co_await sending.wait();
  if (sending.state().has_failed()) {
    const std::string failure = co_await error_of(std::move(sending));
    const bool left = failure.find("reset") != std::string::npos || failure.find("Broken pipe") != std::string::npos;
    if (!left) throw std::runtime_error(failure);
  }
}

/// Sends the half of a record, and no more. A Unix socket cannot be reset.
template <class Stream>
gyre::task<> stay_silent(Stream stream) {
  co_await stream.write_all(std::string_view(record_of(100)).substr(0, 50));
  std::array<char, 1> answer{};
  const auto end = co_await gyre::as_expected(stream.read_some(std::span(answer)));
  if (end.value_or(0) > 0) throw std::runtime_error("an answer to the half of a record");
  if (end && std::same_as<Stream, gyre::tcp_stream>) throw std::runtime_error("a session that was cut off looks whole");
}

template <class Stream, class Listener, class Where>
gyre::task<> stop_somewhere(traffic& all, Listener& listener, Where where) {
  const auto raw = [&](Stream peer) -> gyre::task<> {
    try {
      co_await serve_stream(all, peer);
    } catch (const gyre::cancelled&) {
      ++all.cancelled;
      throw;
    }
  };
  const auto buffered = [&](gyre::stream_reader& reader, gyre::stream_writer& writer) -> gyre::task<> {
    try {
      co_await serve_reader(all, reader, writer);
    } catch (const gyre::cancelled&) {
      ++all.cancelled;
      throw;
    }
  };
  gyre::serve_options options;
  options.drain = all.cuts ? std::chrono::microseconds(all.choose.below(2'000)) : std::chrono::nanoseconds(1h);
  auto serving = all.choose.one_in(2) ? gyre::spawn(listener.serve(raw, options))
                                      : gyre::spawn(gyre::start_server(buffered, listener, options));
  std::vector<gyre::task_handle<void>> clients;
  for (std::size_t n = all.choose.between(1, 8); n > 0; --n) {
    Stream stream = co_await Stream::connect(where);
    clients.push_back(gyre::spawn(speak(all, std::move(stream))));
  }
  if (all.cuts) {
    Stream stream = co_await Stream::connect(where);
    clients.push_back(gyre::spawn(stay_silent(std::move(stream))));
  }
  co_await gyre::sleep(std::chrono::microseconds(all.choose.below(3'000)));
  if (all.choose.one_in(2))
    gyre::request_stop();
  else
    serving.cancel();
  co_await serving.wait();
  for (auto& each : clients) co_await each;
  if (all.answered > all.executed) throw std::runtime_error("an answer to a record that was not executed");
  if (!all.cuts && all.cancelled > 0) throw std::runtime_error("a session was cut off");
}

}  // namespace

TEST(mixed_stops, let_tcp_servers_execute_whole_records_only) {
  traffic::totals sum;
  for_each_seed(12, [&sum](unsigned seed) {
    auto body = [seed, &sum]() -> gyre::task<> {
      traffic all(seed);
      auto listener = gyre::tcp_listener::bind("127.0.0.1:0");
      auto stopping = stop_somewhere<gyre::tcp_stream>(all, listener, listener.local_address());
      co_await std::move(stopping);
      all.add_to(sum);
    };
    gyre::run(body, loop_for(seed));
  });
  traffic::expect_work_done(sum);
}

TEST(mixed_stops, let_unix_servers_execute_whole_records_only) {
  traffic::totals sum;
  for_each_seed(12, [&sum](unsigned seed) {
    auto body = [seed, &sum]() -> gyre::task<> {
      traffic all(seed);
      const gyre::unix_address where("@gyre-mixed-stops-" + std::to_string(::getpid()));
      auto listener = gyre::unix_listener::bind(where);
      auto stopping = stop_somewhere<gyre::unix_stream>(all, listener, where);
      co_await std::move(stopping);
      all.add_to(sum);
    };
    gyre::run(body, loop_for(seed));
  });
  traffic::expect_work_done(sum);
}
