// programs/resp_server/server.cpp: serves RESP requests over TCP.
#include "programs/resp_server/server.hpp"

#include "programs/resp_server/client_connection.hpp"

#include <gyre/loop/sleep.hpp>
#include <gyre/loop/yield.hpp>
#include <gyre/tasks/task_group.hpp>

#include <utility>

namespace resp {
namespace {

// Frees keys that nobody asks for again, and memory of keys that FLUSHALL ASYNC has removed.
gyre::task<> remove_and_free(keyspace& keys) {
  using namespace std::chrono_literals;
  constexpr std::size_t budget = 20;  // small: the loop does this up to 128 times before it looks for input of clients
  for (;;) {
    co_await gyre::sleep(100ms);
    while (keys.expire_some(wall_clock(), budget) == budget) co_await gyre::yield();
    while (!keys.free_some(budget)) co_await gyre::yield();
  }
}

}  // namespace

gyre::task<> serve(resp_server_options options) {
  server_state state(options.limits, options.keys);
  auto listener = gyre::tcp_listener::bind(options.server.listen);
  state.info.started_at = wall_clock();
  state.info.port = listener.local_address().port();
  programs::announce(listener);
  auto serve_one = [&state](gyre::tcp_stream peer) -> gyre::task<> {
    client_connection client(state, std::move(peer));
    co_await client.run();
  };
  auto serve_and_expire = [&](gyre::task_group& group) -> gyre::task<> {
    group.spawn(remove_and_free(state.keys), {.name = "expiry"});
    co_await listener.serve(serve_one, options.server.serve());
    group.cancel();
  };
  co_await gyre::task_group::scope(serve_and_expire);
}

}  // namespace resp
