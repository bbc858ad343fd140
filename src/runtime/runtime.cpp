// src/runtime/runtime.cpp: the threads of a runtime.
#include <gyre/coro/misuse.hpp>
#include <gyre/loop/stop_observer.hpp>
#include <gyre/runtime/runtime.hpp>

#include "processor_binding.hpp"

#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <semaphore>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace gyre {
namespace {

// The second signal cancels the tasks of every loop, not only those below the main task.
class forced_end : private stop_observer {
 public:
  explicit forced_end(event_loop& loop) noexcept : loop_(loop) {
    told = [](stop_observer& observer, stop_level level) noexcept {
      if (level == stop_level::forced) static_cast<forced_end&>(observer).loop_.root_scope().cancel();
    };
    loop_.stops().add(*this);
  }
  forced_end& operator=(forced_end&&) = delete;
  ~forced_end() { loop_.stops().remove(*this); }

 private:
  event_loop& loop_;
};

void name_thread(std::size_t index) noexcept {
  char name[16];
  std::snprintf(name, sizeof(name), "gyre-%zu", index);
  ::pthread_setname_np(::pthread_self(), name);
}

void check_count(std::size_t threads) {
  if (threads > 0 && threads <= loop_group::max_loops) return;
  throw std::invalid_argument("runtime: threads is " + std::to_string(threads) + "; it must be from 1 to " +
                              std::to_string(loop_group::max_loops));
}

}  // namespace

struct runtime::state {
  loop_options options;
  std::mutex growing;                        // guards `threads`
  std::optional<processor_binding> binding;  // with runtime_options::pin
  std::vector<std::thread> threads;
  std::atomic<bool> stopped{false};
  pid_t process = ::getpid();
};

// The starting thread waits for each thread in turn, so that the loop of the n-th thread has the index n.
struct runtime::beginning {
  std::exception_ptr failure = {};
  std::binary_semaphore decided{0};  // afterwards the thread does not use this object
};

runtime::runtime(const runtime_options& options)
    : loops_([](void* self, std::size_t size) { static_cast<runtime*>(self)->grow(size); }, this), state_(nullptr) {
  start(options);
}

runtime::runtime(event_loop& first, const runtime_options& options)
    : loops_([](void* self, std::size_t size) { static_cast<runtime*>(self)->grow(size); }, this),
      first_(&first),
      state_(nullptr) {
  start(options);
}

void runtime::start(const runtime_options& options) {
  check_count(options.threads);
  auto made = std::make_unique<state>();
  made->options = options.loop;
  if (options.pin) made->binding.emplace();
  if (first_ != nullptr) loops_.add(*first_);
  state_ = made.release();
  try {
    if (first_ != nullptr && state_->binding) state_->binding->bind(0);
    grow(options.threads);
  } catch (...) {
    stop();
    delete state_;
    throw;
  }
}

void runtime::grow(std::size_t size) {
  check_count(size);
  const std::scoped_lock lock(state_->growing);
  while (loops_.size() < size) {
    beginning start;
    state_->threads.emplace_back([this, &start] { run_loop(start); });
    start.decided.acquire();
    if (!start.failure) continue;
    state_->threads.back().join();
    state_->threads.pop_back();
    std::rethrow_exception(start.failure);
  }
}

void runtime::run_loop(beginning& start) noexcept {
  std::optional<event_loop> loop;
  try {
    name_thread(size());
    if (state_->binding) state_->binding->bind(size());
    loop.emplace(state_->options);
    loops_.add(*loop);
  } catch (...) {  // thrown on the starting thread
    loop.reset();
    start.failure = std::current_exception();
  }
  const bool runs = loop.has_value();
  start.decided.release();
  if (!runs) return;
  const forced_end forced(*loop);
  loops_.serve(*loop);
  loop->shutdown();
}

runtime::~runtime() {
  stop();
  if (state_->process == ::getpid())
    delete state_;  // in a forked child the threads do not exist, and cannot be destroyed
}

void runtime::stop() noexcept {
  if (state_->process != ::getpid()) return;
  const event_loop* const here = event_loop::current_or_null();
  if (here != nullptr && here != first_ && here->group() == &loops_)
    misuse(
        "runtime::stop was called on one of the runtime's own threads, and would wait for itself: stop it from the "
        "thread that made it");
  loops_.request_end();
  if (first_ != nullptr) first_->shutdown();
  std::vector<std::thread> last;
  {
    const std::scoped_lock lock(state_->growing);  // a task may be adding a loop, which has begun to fail by now
    last.swap(state_->threads);
  }
  for (std::thread& each : last) each.join();
  if (first_ != nullptr && state_->binding) state_->binding->unbind();
  state_->stopped = true;
}

event_loop& runtime::loop(std::size_t index) const noexcept {
  if (state_->stopped)
    misuse("loop %zu of a runtime was requested after runtime::stop: its loops have ended, so ask for it before",
           index);
  return loops_[index];
}

}  // namespace gyre
