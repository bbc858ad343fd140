// src/tls/pending_handshakes.cpp: a list of handshakes, from which the oldest one is given up.
#include <gyre/tls/pending_handshakes.hpp>

#include "context.hpp"

#include <gyre/loop/event_loop.hpp>
#include <gyre/tasks/race.hpp>
#include <gyre/tasks/timeout.hpp>

#include <utility>

namespace gyre::tls {

struct pending_handshakes::entry {
  entry(pending_handshakes& of, std::size_t max) noexcept : list(of) { list.add(*this, max); }
  entry& operator=(entry&&) = delete;
  ~entry() { list.remove(*this); }

  pending_handshakes& list;
  event given_up;
  entry* newer = nullptr;
  entry* older = nullptr;
  bool listed = false;
};

task<stream> pending_handshakes::end_of(entry& waiting) {
  co_await waiting.given_up.wait();
  co_return stream();
}

// A client that has sent nothing yet does not make a server that stops wait for it.
task<stream> pending_handshakes::accept_first(tcp_stream peer, server_config config) {
  const bool begun = co_await peer.next_or_stop();
  if (!begun && !peer.has_ended()) co_return stream();
  auto shaking = accept(std::move(peer), config);
  co_return co_await std::move(shaking);
}

task<stream> pending_handshakes::run(tcp_stream peer, server_config config, std::size_t max) {
  entry its(*this, max);
  try {
    auto limited = timeout(config.shared()->handshake_limit(), accept_first(std::move(peer), config));
    auto either = race(std::move(limited), end_of(its));
    auto first = co_await std::move(either);
    co_return std::move(first.value);
  } catch (const io_error&) {
    constexpr io::monotonic_time between_reports = 1'000'000'000;
    const io::monotonic_time now = event_loop::current().now();
    if (now < quiet_until_) co_return stream();
    quiet_until_ = now + between_reports;
    throw;
  }
}

void pending_handshakes::add(entry& fresh, std::size_t max) noexcept {
  if (count_ >= max && oldest_ != nullptr) {
    entry& oldest = *oldest_;
    remove(oldest);
    oldest.given_up.set();
  }
  fresh.listed = true;
  fresh.older = newest_;
  *(newest_ == nullptr ? &oldest_ : &newest_->newer) = &fresh;
  newest_ = &fresh;
  ++count_;
}

void pending_handshakes::remove(entry& ended) noexcept {
  if (!std::exchange(ended.listed, false)) return;
  *(ended.newer == nullptr ? &newest_ : &ended.newer->older) = ended.older;
  *(ended.older == nullptr ? &oldest_ : &ended.older->newer) = ended.newer;
  ended.newer = ended.older = nullptr;
  --count_;
}

}  // namespace gyre::tls
