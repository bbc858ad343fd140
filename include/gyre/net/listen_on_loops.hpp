// gyre/net/listen_on_loops.hpp: one address, served on several loops. For authors of servers.
#pragma once

#include <gyre/attributes.hpp>
#include <gyre/coro/scope_exit.hpp>
#include <gyre/net/connection_shares.hpp>
#include <gyre/net/listener_state.hpp>
#include <gyre/tasks/on.hpp>
#include <gyre/tasks/task_group.hpp>

#include <cstddef>
#include <cstdint>
#include <source_location>
#include <vector>

namespace gyre {

/// How the connections to one address reach the loops that serve them. A connection never moves afterwards.
enum class accept_mode : std::uint8_t {
  /// Each loop has a listening socket of its own, and the kernel picks one by a hash of both addresses (SO_REUSEPORT).
  /// Accepting costs the least. Few connections are spread unevenly. New connections wait while their loop is blocked.
  reuse_port,
  /// One loop accepts for all. Each connection goes to the loop that has the fewest. Suits few long-lived connections.
  /// Always used for Unix sockets.
  one_acceptor,
};

/// The loops that serve: that of the calling task first, then the next ones of its runtime. The runtime starts further
/// loops when it has fewer. `threads` 0 means all loops of the runtime.
/// Errors: std::invalid_argument without a runtime, for more than one thread.
[[nodiscard]] GYRE_API std::vector<event_loop*> loops_to_serve_on(std::size_t threads);

/// Accepts the connections of `listener` and gives them to the loops of `shares`, until the program is asked to stop or
/// this is cancelled. Then it hands over the connections of the backlog.
/// Cancel: as above, then throws `cancelled`. Errors: io_error when accepting fails for good.
[[nodiscard]] GYRE_API task<> accept_for_loops(listener_state& listener, connection_shares& shares, bool observe_stop);

/// Runs `serve(listener, share)` on each loop of `loops`, the first of which is that of the caller. Each call has a
/// stream_listener of its own for the address of `own`. `share` counts the connections of its loop, or is null.
///
/// All loops call the same `serve`, at the same time; it lives until the last call has ended. With
/// accept_mode::one_acceptor, a loop is given at most `limit` connections at a time.
/// Cancel: cancels all calls, and waits until they have ended.
/// Errors: the first exception of a call cancels the others.
template <class Listener, class Serve>
task<> listen_on_loops(Listener& own, std::vector<event_loop*> loops, accept_mode mode, std::size_t limit,
                       bool observe_stop, Serve serve, std::source_location where) {
  if (mode == accept_mode::reuse_port && own.state().share_port()) {
    // Opened here, because this loop may close its own socket before another one begins.
    std::vector<owned_fd> sockets(loops.size());
    for (std::size_t i = 1; i < loops.size(); ++i) sockets[i] = own.state().open_beside();
    auto serve_beside = [&](std::size_t number) -> task<> {
      auto listener = own.beside(std::move(sockets[number]));
      co_await serve(listener, static_cast<loop_share*>(nullptr));
    };
    auto all = [&](task_group& group) -> task<> {
      for (std::size_t i = 1; i < loops.size(); ++i) {
        auto serve_there = [&serve_beside, i]() -> task<> { co_await serve_beside(i); };
        group.spawn(run_on(*loops[i], serve_there, where), {.name = "serve"});
      }
      co_await serve(own, static_cast<loop_share*>(nullptr));
    };
    co_await task_group::scope(all);
    co_return;
  }
  const shares_reference shares(connection_shares::create(loops, limit));
  auto serve_given = [&](std::size_t number) -> task<> {
    const scope_exit no_more([&]() noexcept { shares->detach(number); });
    auto listener = own.given(*shares, number);
    co_await serve(listener, &(*shares)[number]);
  };
  auto all = [&](task_group& group) -> task<> {
    for (std::size_t i = 0; i < loops.size(); ++i) {
      auto serve_there = [&serve_given, i]() -> task<> { co_await serve_given(i); };
      group.spawn(run_on(*loops[i], serve_there, where), {.name = "serve"});
    }
    co_await accept_for_loops(own.state(), *shares, observe_stop);
  };
  co_await task_group::scope(all);
}

}  // namespace gyre
