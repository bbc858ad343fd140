// examples/upstream_pool.hpp: the idle connections of reverse_proxy.
#pragma once

#include <gyre/gyre.hpp>

#include "upstream_connection.hpp"

#include <array>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

/// Keeps idle connections and watches them: nothing may arrive on one before the next request is sent. Earlier bytes,
/// such as a late body or a 408, would be taken for the response to that request, which may be another client's. A
/// connection on which anything arrives, even the end, is closed.
///
/// Lifetime: the watching group must end before the pool does.
class upstream_pool {
 public:
  using pointer = std::unique_ptr<upstream_connection>;

  void watch_in(gyre::task_group& group) noexcept { watches_ = &group; }

  /// Keeps a connection whose response is complete. Closes it if it cannot be reused, or if there are enough.
  void keep(pointer connection) {
    if (!connection->reusable() || idle_.size() >= most || watches_ == nullptr) return;
    connection->release_buffer();
    auto entry = std::make_shared<idle>(std::move(connection));
    auto watching = watches_->spawn(watch(*this, entry), {.name = "watching an idle connection"});
    idle_.push_back({std::move(entry), std::move(watching)});
  }

  /// Returns a connection on which nothing has arrived since its last response, or null when there is none.
  /// Cancel: one connection is closed.
  gyre::task<pointer> take() {
    while (!idle_.empty()) {
      watched last = std::move(idle_.back());
      idle_.pop_back();
      last.watch.cancel();
      co_await last.watch.wait();  // bytes that came first win over the cancel
      if (last.entry->quiet && !last.entry->connection->has_input()) co_return std::move(last.entry->connection);
    }
    co_return nullptr;
  }

 private:
  static constexpr std::size_t most = 64;
  struct idle {
    explicit idle(pointer c) noexcept : connection(std::move(c)) {}
    pointer connection;
    bool quiet = true;
  };
  /// The task keeps the entry alive, but the entry does not keep the task alive.
  struct watched {
    std::shared_ptr<idle> entry;
    gyre::task_handle<void> watch;
  };

  static gyre::task<> watch(upstream_pool& pool, std::shared_ptr<idle> entry) {
    std::array<char, 1> unexpected{};
    (void)co_await gyre::as_expected(entry->connection->stream().read_some(unexpected));
    entry->quiet = false;
    std::erase_if(pool.idle_, [&](const watched& each) { return each.entry == entry; });
    entry->connection.reset();
  }

  std::vector<watched> idle_;
  gyre::task_group* watches_ = nullptr;
};
