// bench/micro/asio_sync.cpp: the same with Asio, as far as it goes: no mutex, semaphore or generator.
#include <asio.hpp>
#include <asio/experimental/awaitable_operators.hpp>
#include <asio/experimental/channel.hpp>

#include "bench/micro/timing.hpp"

namespace {

using asio::awaitable;
using asio::use_awaitable;
using asio::experimental::awaitable_operators::operator&&;
using channel = asio::experimental::channel<void(std::error_code, int)>;

template <class Body>
awaitable<void> report(const char* name, Body body) {
  bench::stopwatch watch(name);
  do {
    watch.start();
    co_await body(watch.repetitions());
  } while (watch.again());
}

awaitable<void> send(channel& to, long n) {
  for (long i = 0; i < n; ++i) co_await to.async_send(std::error_code(), static_cast<int>(i), use_awaitable);
}
awaitable<void> receive(channel& from, long n) {
  for (long i = 0; i < n; ++i) (void)co_await from.async_receive(use_awaitable);
}
awaitable<void> channel_of(std::size_t capacity, long n) {
  channel c(co_await asio::this_coro::executor, capacity);
  co_await (send(c, n) && receive(c, n));
}
awaitable<void> channel_64(long n) { return channel_of(64, n); }
awaitable<void> channel_1(long n) { return channel_of(1, n); }

awaitable<void> yield(long n) {
  const auto here = co_await asio::this_coro::executor;
  for (long i = 0; i < n; ++i) co_await asio::post(here, use_awaitable);
}

awaitable<int> nothing() { co_return 1; }
awaitable<void> spawn(long n) {
  const auto here = co_await asio::this_coro::executor;
  for (long i = 0; i < n; ++i) (void)co_await asio::co_spawn(here, nothing(), use_awaitable);
}

awaitable<void> to_thread(long n) {
  static asio::thread_pool pool(1);
  for (long i = 0; i < n; ++i) {
    // To the pool, and back to the coroutine's executor.
    co_await asio::co_spawn(pool, []() -> awaitable<void> { co_return; }, use_awaitable);
  }
}

awaitable<void> all() {
  co_await report("channel_64", channel_64);
  co_await report("channel_1", channel_1);
  co_await report("yield", yield);
  co_await report("spawn", spawn);
  co_await report("to_thread", to_thread);
}

}  // namespace

int main() {
  asio::io_context context(1);
  asio::co_spawn(context, all(), asio::detached);
  context.run();
}
