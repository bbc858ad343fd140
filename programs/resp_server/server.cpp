// programs/resp_server/server.cpp: serves RESP requests over TCP.
#include "programs/resp_server/server.hpp"

#include "programs/resp_server/client_connection.hpp"

#include <gyre/attributes.hpp>
#include <gyre/loop/sleep.hpp>
#include <gyre/loop/yield.hpp>
#include <gyre/tasks/for_each_loop.hpp>
#include <gyre/tasks/task_group.hpp>

#include <chrono>
#include <utility>

namespace resp {
namespace {

// Removes keys that nobody asks for again.
gyre::task<> remove_expired(keyspace& keys) {
  using namespace std::chrono_literals;
  constexpr std::size_t budget = 20;  // small: the loop does this up to 128 times before it looks for input of clients
  for (;;) {
    co_await gyre::sleep(100ms);
    while (keys.expire_some(wall_clock(), budget) == budget) co_await gyre::yield();
  }
}

// Not a coroutine: an idle connection holds only the frame of client_connection::serve().
struct serve_one {
  shard_set& shards;
  GYRE_CORO_WRAPPER gyre::task<> operator()(gyre::tcp_stream peer) const {
    return client_connection::serve(shards.here(), std::move(peer));
  }
};

}  // namespace

gyre::task<> serve_shards(gyre::tcp_listener& listener, shard_set& shards, gyre::serve_options options) {
  auto expire = [&shards]() -> gyre::task<> { co_await remove_expired(shards.here().keys); };
  auto serve_and_expire = [&](gyre::task_group& group) -> gyre::task<> {
    group.spawn(gyre::for_each_loop(expire), {.name = "expiry"});
    co_await listener.serve(serve_one{shards}, options);
    group.cancel();
  };
  co_await gyre::task_group::scope(serve_and_expire);
}

}  // namespace resp
