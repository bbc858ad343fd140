// src/runtime/signal_table.cpp: the library's only signal handler, and the table that it reads.
#include "signal_table.hpp"

#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <mutex>

namespace gyre {
namespace {

constexpr int signal_numbers = 65;
constexpr std::size_t ranks = 2;

struct signal_place {
  std::array<std::atomic<signal_owner*>, ranks> owners{};
  std::atomic<unsigned> handlers{0};  // running handlers, which may use an owner
  std::atomic<unsigned> quiet{0};     // number of times that the last of them has ended
  std::atomic<bool> awaited{false};   // a thread waits for `quiet` to change

  // Other code has replaced the library's handler and may call it. `below` is the action that the library had replaced.
  // Both are written once, because a handler on another thread reads them.
  std::atomic<bool> covered{false};
  struct sigaction below{};

  struct sigaction replaced{};  // the action last replaced by the library's handler; guarded by the lock

  [[nodiscard]] bool is_owned() const noexcept {
    return std::any_of(owners.begin(), owners.end(), [](const auto& each) { return each.load() != nullptr; });
  }
};

constinit std::array<signal_place, signal_numbers> signal_places{};
constinit std::mutex signal_lock;  // never taken in a handler

void on_owned_signal(int number, siginfo_t* info, void* context) noexcept;

bool is_ours(const struct sigaction& action) noexcept {
  return (action.sa_flags & SA_SIGINFO) != 0 && action.sa_sigaction == &on_owned_signal;
}

// ---- in the handler

bool is_ignored_by_default(int number) noexcept {
  return number == SIGCHLD || number == SIGURG || number == SIGWINCH || number == SIGCONT;
}

// Called in a handler of that signal, so the signal is blocked on this thread.
void act_by_default(int number) noexcept {
  if (is_ignored_by_default(number)) return;
  struct sigaction usual{};
  usual.sa_handler = SIG_DFL;
  struct sigaction current{};
  ::sigaction(number, &usual, &current);
  ::raise(number);
  sigset_t only;
  sigset_t before;
  ::sigemptyset(&only);
  ::sigaddset(&only, number);
  ::pthread_sigmask(SIG_UNBLOCK, &only, &before);  // the process ends or stops here
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  ::sigaction(number, &current, nullptr);
}

// Called for a signal without an owner.
void pass_on(const signal_place& here, int number, siginfo_t* info, void* context) noexcept {
  if (!here.covered.load(std::memory_order_acquire)) {
    // The signal was on its way to this thread when the last owner left. It is raised again for the restored action.
    ::raise(number);
  } else if ((here.below.sa_flags & SA_SIGINFO) != 0) {
    here.below.sa_sigaction(number, info, context);
  } else if (here.below.sa_handler == SIG_DFL) {
    act_by_default(number);
  } else if (here.below.sa_handler != SIG_IGN) {
    here.below.sa_handler(number);
  }
}

void on_owned_signal(int number, siginfo_t* info, void* context) noexcept {
  const int saved = errno;
  signal_place& here = signal_places[static_cast<std::size_t>(number)];
  here.handlers.fetch_add(1);
  signal_owner* owner = nullptr;
  for (const auto& each : here.owners)
    if (owner == nullptr) owner = each.load();
  if (owner != nullptr) owner->arrived(*owner, number);
  if (here.handlers.fetch_sub(1) == 1) {
    here.quiet.fetch_add(1);
    if (here.awaited.load()) ::syscall(SYS_futex, &here.quiet, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
  }
  if (owner == nullptr) pass_on(here, number, info, context);
  errno = saved;
}

// ---- with the lock held

// Waits for a moment without a running handler. Handlers that begin from now on see the new owners.
void wait_for_handlers(signal_place& here) noexcept {
  const unsigned seen = here.quiet.load();
  here.awaited = true;
  while (here.handlers.load() != 0 && here.quiet.load() == seen)
    ::syscall(SYS_futex, &here.quiet, FUTEX_WAIT_PRIVATE, seen, nullptr, nullptr, 0);
  here.awaited = false;
}

void note_cover(signal_place& here) noexcept {
  if (here.covered.load(std::memory_order_relaxed)) return;
  here.below = here.replaced;
  here.covered.store(true, std::memory_order_release);
}

// Called when the signal loses its last owner.
void restore_action(int number, signal_place& here) noexcept {
  struct sigaction current{};
  ::sigaction(number, nullptr, &current);
  if (is_ours(current))
    ::sigaction(number, &here.replaced, nullptr);
  else
    note_cover(here);
}

// ---- fork

sigset_t mask_before_fork;

// No handler may run in the child before its own actions are restored: it would wake the parent's loop.
void before_fork() noexcept {
  signal_lock.lock();
  sigset_t all;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &mask_before_fork);
}

void after_fork() noexcept {
  const sigset_t mask = mask_before_fork;
  signal_lock.unlock();
  ::pthread_sigmask(SIG_SETMASK, &mask, nullptr);
}

void after_fork_in_child() noexcept {
  for (int number = 1; number < signal_numbers; ++number) {
    signal_place& here = signal_places[static_cast<std::size_t>(number)];
    if (here.is_owned()) restore_action(number, here);
    for (auto& each : here.owners) each = nullptr;
    here.handlers = 0;  // from threads that the child does not have
    here.awaited = false;
  }
  after_fork();
}

// Before main begins: no thread can fork meanwhile.
const int fork_handlers_error = ::pthread_atfork(&before_fork, &after_fork, &after_fork_in_child);

}  // namespace

int take_signal(int number, signal_rank rank, signal_owner& owner) noexcept {
  if (number <= 0 || number >= signal_numbers) return EINVAL;
  const std::scoped_lock lock(signal_lock);
  signal_place& here = signal_places[static_cast<std::size_t>(number)];
  auto& place = here.owners[static_cast<std::size_t>(rank)];
  if (place.load() != nullptr) return EBUSY;
  struct sigaction current{};
  if (::sigaction(number, nullptr, &current) < 0) return errno;
  const bool was_owned = here.is_owned();
  if (is_ours(current)) {
    place = &owner;
    return 0;
  }
  if (fork_handlers_error != 0) return fork_handlers_error;
  if (was_owned) note_cover(here);
  struct sigaction action{};
  action.sa_sigaction = &on_owned_signal;
  action.sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK;
  here.replaced = current;
  place = &owner;
  if (::sigaction(number, &action, nullptr) == 0) return 0;
  const int error = errno;
  place = nullptr;
  wait_for_handlers(here);
  return error;
}

void release_signal(int number, signal_rank rank, const signal_owner& owner) noexcept {
  const std::scoped_lock lock(signal_lock);
  signal_place& here = signal_places[static_cast<std::size_t>(number)];
  auto& place = here.owners[static_cast<std::size_t>(rank)];
  if (place.load() != &owner) return;
  const auto owners =
      std::count_if(here.owners.begin(), here.owners.end(), [](const auto& each) { return each.load() != nullptr; });
  if (owners == 1) restore_action(number, here);
  place = nullptr;
  wait_for_handlers(here);
}

}  // namespace gyre
