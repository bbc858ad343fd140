// programs/gyre/load/loop_load.cpp: sends requests, and measures how long their responses take.
#include "programs/gyre/load/loop_load.hpp"

#include <gyre/loop/sleep.hpp>
#include <gyre/loop/timeout_op.hpp>
#include <gyre/loop/yield.hpp>
#include <gyre/net/tcp_stream.hpp>
#include <gyre/tasks/task_group.hpp>
#include <gyre/tasks/timeout.hpp>
#include <gyre/tls/stream.hpp>
#include <gyre/tls/tls_error.hpp>

#include <array>
#include <exception>
#include <limits>
#include <span>
#include <stdexcept>
#include <utility>

namespace programs {
namespace {

/// A response that is no HTTP, or that ends early.
class bad_exchange : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

std::uint64_t part_of(std::uint64_t whole, std::size_t index, std::size_t parts) noexcept {
  return whole / parts + (index < whole % parts ? 1 : 0);
}

std::string text_of(const std::exception& error) {
  if (dynamic_cast<const gyre::timed_out*>(&error) != nullptr) return "timed out";
  if (dynamic_cast<const gyre::tls::tls_error*>(&error) != nullptr) return error.what();
  if (const auto* const io = dynamic_cast<const gyre::io_error*>(&error)) return io->code().message();
  return error.what();
}

}  // namespace

loop_load::loop_load(const load_plan& plan, std::size_t index, gyre::time_point start)
    : plan_(plan),
      connections_(part_of(plan.connections, index, plan.loops)),
      left_(plan.requests == 0 ? std::numeric_limits<std::uint64_t>::max() : part_of(plan.requests, index, plan.loops)),
      start_(start) {
  if (plan.rate <= 0) return;
  const double between = 1e9 / plan.rate;
  offset_ = between * static_cast<double>(index);
  interval_ = between * static_cast<double>(plan.loops);
}

latency_histogram loop_load::take_recent() noexcept { return std::exchange(recent_, {}); }

gyre::task<> loop_load::run() {
  auto all = [this](gyre::task_group& group) -> gyre::task<> {
    constexpr std::size_t at_once = 64;  // then timers and signals have their turn
    for (std::size_t i = 0; i < connections_; ++i) {
      if (plan_.encryption)
        group.spawn(drive<gyre::tls::stream>(), {.name = "connection"});
      else
        group.spawn(drive<gyre::tcp_stream>(), {.name = "connection"});
      if (i % at_once == at_once - 1) co_await gyre::yield_turn();
    }
  };
  co_await gyre::task_group::scope(all);
}

std::optional<gyre::time_point> loop_load::next_due() noexcept {
  if (left_ == 0) return {};
  --left_;
  const std::uint64_t number = begun_++;
  if (interval_ <= 0) return gyre::now();
  const double nanoseconds = offset_ + interval_ * static_cast<double>(number);
  const gyre::time_point due = start_ + std::chrono::nanoseconds(static_cast<std::int64_t>(nanoseconds));
  if (due - start_ >= plan_.duration) return {};
  return due;
}

template <class Stream>
gyre::task<> loop_load::drive() {
  constexpr auto pause = std::chrono::milliseconds(10);  // after a failure to connect
  response_reader reader(plan_.method);
  std::optional<Stream> stream;
  bool was_used = false;
  while (const auto due = next_due()) {
    if (plan_.rate > 0 && *due > gyre::now()) co_await gyre::sleep_until(*due);
    for (bool again = true; again;) {
      again = false;
      bool waits = false;
      try {
        if (!stream) {
          waits = true;
          was_used = false;
          reader.reset();
          stream.emplace(co_await connect<Stream>());
          waits = false;
          ++counts_.connections;
        }
        const outcome ended = co_await exchange(*stream, reader, *due);
        was_used = true;
        if (ended == outcome::connection_over) stream.reset();
      } catch (const std::exception& error) {
        stream.reset();
        // The server has closed an idle connection while the request was on its way.
        again = was_used && reader.is_between() && dynamic_cast<const gyre::timed_out*>(&error) == nullptr;
        if (!again) ++counts_.errors[text_of(error)];
      } catch (...) {  // cancelled: the time is over
        counts_.add_unfinished(gyre::now() - *due);
        throw;
      }
      if (waits) co_await gyre::sleep(pause);
    }
  }
}

// The rest of the time that a connection or a response may take.
std::chrono::nanoseconds loop_load::left_since(gyre::time_point begin) const {
  const std::chrono::nanoseconds left = plan_.limit - (gyre::now() - begin);
  if (left <= left.zero()) throw gyre::timed_out(plan_.limit, "response");
  return left;
}

template <>
gyre::task<gyre::tcp_stream> loop_load::connect() {
  auto connecting = gyre::tcp_stream::connect(plan_.server);
  co_return co_await gyre::timeout(plan_.limit, std::move(connecting));
}

template <>
gyre::task<gyre::tls::stream> loop_load::connect() {
  const gyre::time_point begin = gyre::now();
  auto connecting = gyre::tcp_stream::connect(plan_.server);
  auto plain = co_await gyre::timeout(plan_.limit, std::move(connecting));
  std::string host(plan_.url.host());
  const auto& config = *plan_.encryption;  // NOLINT(bugprone-unchecked-optional-access): the URL is https
  auto shaking = gyre::tls::connect(std::move(plain), std::move(host), config);
  co_return co_await gyre::timeout(left_since(begin), std::move(shaking));
}

template <class Stream>
gyre::task<loop_load::outcome> loop_load::exchange(Stream& stream, response_reader& reader, gyre::time_point due) {
  const gyre::time_point begin = plan_.rate > 0 ? gyre::now() : due;
  (void)co_await gyre::timeout(plan_.limit, stream.write_all(std::string_view(plan_.request)));
  std::array<char, gyre::lending_stream<Stream> ? 1 : 16'384> buffer;
  for (;;) {
    gyre::buffer_lease lease;
    std::string_view bytes;
    const std::chrono::nanoseconds left = left_since(begin);
    if constexpr (gyre::lending_stream<Stream>) {
      lease = co_await gyre::timeout(left, stream.receive());
      bytes = lease.text();
    } else {
      const std::size_t count = co_await gyre::timeout(left, stream.read_some(std::span<char>(buffer)));
      bytes = std::string_view(buffer.data(), count);
    }
    counts_.received += bytes.size();
    if (bytes.empty()) {
      if (!reader.ends_here()) throw bad_exchange("the server closed the connection before the response was complete");
      (void)note_response(reader, due);
      co_return outcome::connection_over;
    }
    switch (reader.take(bytes)) {
      case response_reader::state::more:
        break;
      case response_reader::state::failed:
        throw bad_exchange("bad response: " + std::string(gyre::http::describe(reader.error())));
      case response_reader::state::complete:
        if (!bytes.empty()) throw bad_exchange("bad response: bytes follow its end");
        co_return note_response(reader, due);
    }
  }
}

loop_load::outcome loop_load::note_response(const response_reader& reader, gyre::time_point due) {
  const auto latency = gyre::now() - due;
  counts_.latencies.add(latency);
  recent_.add(latency);
  ++counts_.statuses[reader.status()];
  return reader.keep_alive() && plan_.keep_alive ? outcome::connection_usable : outcome::connection_over;
}

}  // namespace programs
