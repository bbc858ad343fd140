// src/net/happy_eyeballs.cpp: connection attempts that start one after the other and run concurrently.
#include <gyre/io/io_error.hpp>
#include <gyre/loop/timeout_op.hpp>
#include <gyre/net/happy_eyeballs.hpp>
#include <gyre/sync/event.hpp>
#include <gyre/tasks/task_group.hpp>

#include <exception>
#include <optional>
#include <stdexcept>

namespace gyre {
namespace {

struct attempts {
  std::optional<tcp_stream> winner;
  std::exception_ptr first_failure;
  event one_failed;

  task<> attempt(address peer, const connect_options& options, task_group& group) {
    try {
      tcp_stream stream = co_await tcp_stream::connect(peer, options);
      if (!winner) winner.emplace(std::move(stream));
      group.cancel();
    } catch (const io_error&) {
      if (!first_failure) first_failure = std::current_exception();
      one_failed.set();
    }
  }
};

}  // namespace

std::vector<address> interleave_families(const std::vector<address>& addresses) {
  std::vector<address> ordered;
  ordered.reserve(addresses.size());
  std::size_t next[2] = {0, 0};  // for the first address's family, and for the other
  const auto find = [&](int which) -> const address* {
    const bool v6 = addresses.front().is_v6() == (which == 0);
    for (std::size_t& at = next[which]; at < addresses.size();)
      if (const address& each = addresses[at++]; each.is_v6() == v6) return &each;
    return nullptr;
  };
  for (int turn = 0; ordered.size() < addresses.size(); turn = 1 - turn)
    if (const address* const found = find(turn)) ordered.push_back(*found);
  return ordered;
}

task<tcp_stream> connect_to_first(std::vector<address> addresses, happy_eyeballs_options options) {
  if (options.attempt_delay < std::chrono::nanoseconds::zero())
    throw std::invalid_argument("happy_eyeballs_options: attempt_delay is negative");
  if (addresses.empty()) throw io_error(std::make_error_code(std::errc::invalid_argument), "connect", "no address");
  attempts all;
  auto body = [&](task_group& group) -> task<> {
    const std::vector<address> ordered = interleave_families(addresses);
    for (const address& each : ordered) {
      all.one_failed.clear();
      group.spawn(all.attempt(each, options.connecting, group), {.name = "connect"}).detach();
      if (&each == &ordered.back()) break;
      (void)co_await as_expected(timeout(options.attempt_delay, all.one_failed.wait()));
    }
  };
  co_await task_group::scope(body);
  if (!all.winner) std::rethrow_exception(all.first_failure);
  co_return *std::move(all.winner);
}

}  // namespace gyre
