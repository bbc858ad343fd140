// programs/resp_server/serve_shards.cpp: serves the connections of a listener on all loops.
#include "programs/resp_server/serve_shards.hpp"

#include "programs/resp_server/client_connection.hpp"
#include "programs/resp_server/shard_set.hpp"

#include <gyre/loop/sleep.hpp>
#include <gyre/loop/yield.hpp>
#include <gyre/tasks/for_each_loop.hpp>
#include <gyre/tasks/task_group.hpp>

#include <utility>

namespace resp {
namespace {

// Frees keys that nobody asks for again, and memory of keys that FLUSHALL ASYNC has removed.
gyre::task<> remove_and_free(server_state& shard) {
  using namespace std::chrono_literals;
  constexpr std::size_t budget = 20;  // small: the loop does this up to 128 times before it looks for input of clients
  for (;;) {
    co_await gyre::sleep(100ms);
    while (shard.keys.expire_some(wall_clock(), budget) == budget) co_await gyre::yield();
    while (!shard.keys.free_some(budget)) co_await gyre::yield();
    shard.publish_memory();
  }
}

}  // namespace

gyre::task<> serve_shards(gyre::tcp_listener& listener, shard_set& shards, gyre::serve_options options) {
  auto serve_one = [&shards](gyre::tcp_stream peer) -> gyre::task<> {
    client_connection client(shards.here(), std::move(peer));
    co_await client.run();
  };
  auto expire = [&shards]() -> gyre::task<> { co_await remove_and_free(shards.here()); };
  auto serve_and_expire = [&](gyre::task_group& group) -> gyre::task<> {
    group.spawn(gyre::for_each_loop(expire), {.name = "expiry"});
    co_await listener.serve(serve_one, options);
    group.cancel();
  };
  co_await gyre::task_group::scope(serve_and_expire);
}

}  // namespace resp
