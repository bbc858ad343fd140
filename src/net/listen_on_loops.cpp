// src/net/listen_on_loops.cpp: the loops that serve, and accepting for several of them.
#include <gyre/coro/await_place.hpp>
#include <gyre/loop/as_expected.hpp>
#include <gyre/loop/loop_group.hpp>
#include <gyre/net/listen_on_loops.hpp>
#include <gyre/net/stream_listener.hpp>

#include <algorithm>
#include <exception>
#include <stdexcept>
#include <string>

namespace gyre {

std::vector<event_loop*> loops_to_serve_on(std::size_t threads) {
  event_loop& here = event_loop::current();
  loop_group* const group = here.group();
  if (group == nullptr) {
    if (threads <= 1) return {&here};
    throw std::invalid_argument("serve: threads is " + std::to_string(threads) +
                                ", and this loop belongs to no runtime; use gyre::run or gyre::runtime");
  }
  if (threads > group->size()) group->grow(threads);
  const std::size_t count = threads == 0 ? group->size() : threads;
  std::vector<event_loop*> loops;
  loops.reserve(count);
  for (std::size_t i = 0; i < count; ++i) loops.push_back(&(*group)[(here.index() + i) % group->size()]);
  return loops;
}

namespace {

task<> hand_over_the_last(listener_state& listener, connection_shares& shares) {
  listener.finish();
  while (auto connection = co_await as_expected(accept_descriptor_op(listener))) shares.give(*std::move(connection));
}

}  // namespace

task<> accept_for_loops(listener_state& listener, connection_shares& shares, bool observe_stop) {
  const scope_exit no_more([&]() noexcept { shares.end(); });
  served_connections stopping(co_await this_task_context{}, observe_stop);  // has no connections of its own
  auto last = shield(hand_over_the_last(listener, shares));
  std::exception_ptr failure;
  try {
    const served_connections::accepting here(stopping);
    for (;;) {
      co_await shares.room();
      shares.give(co_await accept_descriptor_op(listener));
    }
  } catch (const cancelled&) {  // the order to drain
  } catch (...) {
    failure = std::current_exception();
  }
  if (!failure && !stopping.forced()) co_await std::move(last);
  listener.stop();
  stopping.close(failure);
}

}  // namespace gyre
