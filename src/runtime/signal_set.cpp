// src/runtime/signal_set.cpp: a signal handler that posts to a loop.
#include <gyre/coro/cancelled.hpp>
#include <gyre/runtime/signal_set.hpp>

#include <sched.h>
#include <signal.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <system_error>
#include <utility>
#include <vector>

namespace gyre {

/// Whom the handler tells. Lifetime: freed when the set is gone and nothing is on its way to the loop.
class signal_watch : private io::completion {
 public:
  explicit signal_watch(std::initializer_list<int> numbers);
  void abandon() noexcept;

  /// The least of the signals that have come, or 0.
  [[nodiscard]] int take() noexcept;
  void wait(signal_op& op) noexcept;
  void stop_waiting() noexcept { waiter_ = nullptr; }

 private:
  struct watched {
    int number;
    struct sigaction before;
  };
  ~signal_watch() = default;
  void watch(int number);
  void unwatch_all() noexcept;
  static void handle(int number) noexcept;
  static void arrived(io::completion& c) noexcept;

  event_loop* loop_ = &event_loop::current();
  std::atomic<std::uint64_t> pending_{0};  // a bit a signal
  std::atomic<bool> posted_{false};
  bool abandoned_ = false;
  signal_op* waiter_ = nullptr;
  std::vector<watched> watched_;
};

namespace {

constexpr int most_signals = 65;
std::array<std::atomic<signal_watch*>, most_signals> watches;
std::atomic<int> in_handlers{0};  // threads that may be using a watch

std::system_error failure(int error, int number) {
  return {error, std::generic_category(), "signal_set: signal " + std::to_string(number)};
}

}  // namespace

signal_watch::signal_watch(std::initializer_list<int> numbers) {
  complete = &arrived;
  watched_.reserve(numbers.size());
  try {
    for (const int each : numbers) watch(each);
  } catch (...) {
    unwatch_all();
    throw;
  }
}

void signal_watch::watch(int number) {
  if (number <= 0 || number >= most_signals) throw failure(EINVAL, number);
  auto& place = watches[static_cast<std::size_t>(number)];
  signal_watch* nobody = nullptr;
  if (!place.compare_exchange_strong(nobody, this)) throw failure(EBUSY, number);
  struct sigaction action{};
  action.sa_handler = &handle;
  action.sa_flags = SA_RESTART;
  watched taken{.number = number, .before = {}};
  if (::sigaction(number, &action, &taken.before) < 0) {
    const int error = errno;
    place = nullptr;
    throw failure(error, number);
  }
  watched_.push_back(taken);
}

void signal_watch::unwatch_all() noexcept {
  for (const watched& each : watched_) {
    ::sigaction(each.number, &each.before, nullptr);
    watches[static_cast<std::size_t>(each.number)] = nullptr;
  }
  // A handler on another thread may have found this before it was taken out.
  while (in_handlers != 0) ::sched_yield();
}

// Also called by signals that come while it runs.
void signal_watch::handle(int number) noexcept {
  const int saved = errno;
  ++in_handlers;
  if (signal_watch* const self = watches[static_cast<std::size_t>(number)]; self != nullptr) {
    self->pending_ |= std::uint64_t{1} << static_cast<unsigned>(number - 1);
    if (!self->posted_.exchange(true)) self->loop_->post(static_cast<io::completion&>(*self));
  }
  --in_handlers;
  errno = saved;
}

void signal_watch::arrived(io::completion& c) noexcept {
  auto& self = static_cast<signal_watch&>(c);
  self.posted_ = false;  // before the signals are taken: one that comes from here on posts again
  if (self.abandoned_) {
    delete &self;
    return;
  }
  if (self.waiter_ == nullptr || self.pending_ == 0) return;
  signal_op& op = *std::exchange(self.waiter_, nullptr);
  op.waiting_ = false;
  op.number_ = self.take();
  op.proceed(op);
}

int signal_watch::take() noexcept {
  const std::uint64_t all = pending_;
  if (all == 0) return 0;
  pending_ &= ~(all & -all);
  return __builtin_ctzll(all) + 1;
}

void signal_watch::wait(signal_op& op) noexcept {
  if (waiter_ != nullptr) misuse("two tasks wait for one signal_set at the same time");
  waiter_ = &op;
}

void signal_watch::abandon() noexcept {
  if (waiter_ != nullptr) misuse("a signal_set was destroyed while a task waits for it");
  unwatch_all();
  if (!posted_) {
    delete this;
    return;
  }
  abandoned_ = true;
}

signal_op::~signal_op() {
  if (waiting_) misuse("a coroutine was destroyed while it waits for a signal");
}

bool signal_op::try_now() noexcept {
  number_ = watch_->take();
  return number_ != 0;
}

void signal_op::start() noexcept {
  operation_base::cancel = [](cancellable& c) noexcept {
    auto& self = static_cast<signal_op&>(c);
    if (!self.waiting_) return;
    self.waiting_ = false;
    self.watch_->stop_waiting();
    self.cancelled_ = true;
    self.finish_soon();
  };
  waiting_ = true;
  watch_->wait(*this);
}

int signal_op::await_resume() {
  if (cancelled_) throw_cancelled();
  return number_;
}

signal_set::signal_set(std::initializer_list<int> numbers) : watch_(new signal_watch(numbers)) {}
signal_set::~signal_set() { watch_->abandon(); }

}  // namespace gyre
