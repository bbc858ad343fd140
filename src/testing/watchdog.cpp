// src/testing/watchdog.cpp: the watching thread, and its actions on the loop.
#include <gyre/coro/call_stack.hpp>
#include <gyre/loop/event_loop.hpp>
#include <gyre/testing/watchdog.hpp>

#include <algorithm>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <stdexcept>
#include <thread>

namespace gyre::testing {

struct [[gnu::visibility("hidden")]] watchdog::state {
  static std::chrono::milliseconds checked(std::chrono::milliseconds limit) {
    if (limit <= std::chrono::milliseconds::zero())
      throw std::invalid_argument("watchdog: limit must be positive; milliseconds::max() means no limit");
    return std::min(limit, max_limit);
  }

  // A century means no limit. The clock can still represent it.
  static constexpr std::chrono::milliseconds max_limit = std::chrono::hours(24 * 365 * 100);

  state(task_state& watched, std::chrono::milliseconds time)
      : task(watched), loop(event_loop::current()), limit(checked(time)), thread([this] { watch(); }) {}

  void watch() {
    std::unique_lock lock(mutex);
    if (gone.wait_for(lock, limit, [this] { return over; })) return;
    posted = true;
    loop.post([this] { bark(); });
    if (gone.wait_for(lock, limit, [this] { return over; })) return;
    std::fprintf(stderr, "gyre: the test neither ended nor reacted to being cancelled\n");
    std::abort();
  }

  void bark() {
    barked = true;
    if (task.done()) return;
    std::fprintf(stderr, "gyre: the test does not end; it waits here:\n");
    print_call_stack(call_stack_of(task));
    task.root.cancel();
  }

  task_state& task;
  event_loop& loop;
  std::chrono::milliseconds limit;
  std::mutex mutex;
  std::condition_variable gone;
  bool over = false;
  bool posted = false;
  bool barked = false;  // used only on the loop's thread
  std::thread thread;
};

watchdog::watchdog(task_state& task, std::chrono::milliseconds limit) : state_(new state(task, limit)) {}

watchdog::~watchdog() {
  {
    const std::lock_guard lock(state_->mutex);
    state_->over = true;
  }
  state_->gone.notify_one();
  state_->thread.join();
  while (state_->posted && !state_->barked) state_->loop.turn(false);
  delete state_;
}

bool watchdog::has_barked() const noexcept { return state_->barked; }

}  // namespace gyre::testing
