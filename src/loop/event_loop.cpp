// src/loop/event_loop.cpp: the turn of the loop.
#include <gyre/coro/cancelled.hpp>
#include <gyre/coro/misuse.hpp>
#include <gyre/io/monotonic_clock.hpp>
#include <gyre/io/printable.hpp>
#include <gyre/loop/event_loop.hpp>
#include <gyre/loop/operation.hpp>
#include <gyre/loop/waiting_tasks.hpp>

#include "mailbox.hpp"

#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>

namespace gyre {

constinit thread_local event_loop* event_loop::current_ = nullptr;
constinit thread_local int event_loop::inline_budget_ = 0;
constinit unsigned event_loop::forks_ = 0;
// Before main begins: no thread can fork meanwhile.
const int event_loop::fork_handlers_ =
    (io::forked_backend(),
     ::pthread_atfork(&stop_observers::before_fork, &stop_observers::after_fork, &after_fork_in_child));

namespace {

io::backend_owner required_backend(const io::backend_options& options, io::backend_choice& choice) {
  io::backend_owner backend = io::make_backend(options, choice);
  if (!backend) throw std::system_error(choice.error, std::generic_category(), choice.reason);
  return backend;
}

const loop_options& checked(const loop_options& options) {
  if (options.busy_poll < std::chrono::nanoseconds::zero())
    throw std::invalid_argument("event_loop: busy_poll is negative");
  if (options.ready_per_turn > 0) return options;
  throw std::invalid_argument("event_loop: ready_per_turn is " + std::to_string(options.ready_per_turn) +
                              ", and no task would ever run; it must be at least 1");
}

std::uint32_t next_number() noexcept {
  static constinit std::atomic<std::uint32_t> last{0};
  return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

void print_failure(const background_failure& failure, void* /*argument*/) noexcept {
  const auto print = [&](const char* message) {
    const std::string_view space = failure.task_name.empty() ? "" : " ";
    if (failure.spawned_at.line() == 0) {
      print_diagnostic({"gyre: ", failure.kind, space, failure.task_name, " failed: ", message});
      return;
    }
    char line[16];
    std::snprintf(line, sizeof(line), "%u", static_cast<unsigned>(failure.spawned_at.line()));
    print_diagnostic({"gyre: ", failure.kind, space, failure.task_name, " ", failure.place_is, " ",
                      failure.spawned_at.file_name(), ":", line, " failed: ", message});
  };
  try {
    std::rethrow_exception(failure.exception);
  } catch (const std::exception& error) {
    print(error.what());
  } catch (const cancelled& error) {
    print(error.what());
  } catch (...) {  // unknown type, and nobody left to report to: not rethrown
    print("exception of unknown type");
  }
}

}  // namespace

event_loop::event_loop(const loop_options& options)
    : ready_per_turn_(checked(options).ready_per_turn),
      busy_poll_(options.busy_poll.count()),
      virtual_(options.virtual_time),
      number_(next_number()),
      backend_(required_backend(options.backend, choice_)),
      virtual_now_(clock()),
      timers_(virtual_now_),
      handler_(print_failure) {
  if (current_ != nullptr && !current_->is_of_parent())
    throw std::logic_error("event_loop: this thread has a loop already");
  if (fork_handlers_ != 0)
    throw std::system_error(fork_handlers_, std::generic_category(), "event_loop: pthread_atfork");
  mailbox_ = new mailbox(backend_->calls());
  replaced_ = std::exchange(current_, this);
  inline_budget_ = inline_per_resumption;
  shielded_.attach(&root_);
  stops_.join(*this);
}

event_loop::~event_loop() {
  shutdown();
  current_ = replaced_;
  inline_budget_ = 0;
  if (is_of_parent()) {  // its resources belong to the parent
    (void)backend_.release();
    return;
  }
  wait_for_posters();
  delete mailbox_;
  // Leases would return their buffers to freed memory.
  if (backend_->buffers().in_use())
    misuse("a buffer_lease outlives its loop: copy the bytes that are needed later, and let go of the lease before");
}

// In the child, the threads that could use the other loops do not exist.
void event_loop::after_fork_in_child() noexcept {
  ++forks_;
  stop_observers::after_fork_in_child();
  if (current_ == nullptr) return;
  (void)current_->backend_.release();
  current_->backend_ = io::backend_owner(&io::forked_backend());
}

// A thread is in `post` only for a few instructions. But one with a lower real-time priority can finish them only while
// this thread sleeps: sched_yield does not let it run.
void event_loop::wait_for_posters() const noexcept {
  constexpr int max_yields = 16;
  constexpr timespec moment{.tv_sec = 0, .tv_nsec = 50'000};
  for (int n = 0; mailbox_->posting.load(std::memory_order_acquire) > 0; ++n)
    n < max_yields ? (void)::sched_yield() : (void)::nanosleep(&moment, nullptr);
}

bool event_loop::exists(std::uint32_t number) noexcept { return stop_observers::knows(number); }

void event_loop::stop_without_loop() noexcept {
  misuse(
      "an object of a loop was used on a thread without a loop: use it in the task that run() runs, "
      "and reach that loop from other threads by loop.post(), run_coroutine_threadsafe() or a shared_channel");
}

void event_loop::stop_scheduling() noexcept { stop_without_loop(); }

// In a forked child, the loop of the parent has sentences of its own.
void event_loop::stop_on_other_thread(const char* operation) const noexcept {
  if (!is_of_parent()) stop_on_other_loop(operation, "an event_loop");
}

void event_loop::post(io::completion& item) noexcept {
  mailbox_->posting.fetch_add(1, std::memory_order_relaxed);
  mailbox_->posted.push(item);
  if (mailbox_->sleeping.load(std::memory_order_seq_cst) &&
      mailbox_->sleeping.exchange(false, std::memory_order_seq_cst))
    backend_->wake();
  mailbox_->posting.fetch_sub(1, std::memory_order_release);
}

void event_loop::report(const background_failure& failure) noexcept {
  if (current_ != nullptr)
    current_->handler_(failure, current_->handler_argument_);
  else
    print_failure(failure, nullptr);
}

void event_loop::report_posted_failure() noexcept {
  report({std::current_exception(), {}, {}, "a function that was posted"});
}

io::monotonic_time event_loop::clock() const noexcept { return io::monotonic_now(backend_->calls()); }

void event_loop::run_until(const bool& done) {
  while (!done) turn(true);
}

void event_loop::run_ready() noexcept {
  max_in_turn_ = ready_per_turn_;
  for (int n = 0; n < max_in_turn_ && !ready_.empty(); ++n) {
    inline_budget_ = inline_per_resumption;
    io::completion& item = ready_.pop_front();
    __builtin_prefetch(ready_.front());
    item.complete(item);
    running_task_ = nullptr;
  }
}

// Runs tasks last: a caller that turns the loop until something has happened checks before the next turn waits.
void event_loop::turn(bool may_wait) {
  check_thread("turn");
  mailbox_->posted.drain(ready_);
  if (!timers_.empty()) {
    const io::monotonic_time time = now();
    if (time >= timers_.next_deadline()) timers_.advance(time);
  }
  if (!may_wait || !ready_.empty()) {
    backend_->wait(io::do_not_wait, ready_);
  } else {
    virtual_ ? wait_in_virtual_time() : wait_for_events();
    mailbox_->posted.drain(ready_);  // whatever has woken this loop runs in this turn
  }
  if (guest_ != nullptr) [[unlikely]]
    guest_->poll();
  recent_ = 0;
  run_ready();
}

void event_loop::wait_for_events() noexcept {
  if (busy_poll_ > 0 && finds_something_to_do()) return;
  wait_until(timers_.next_deadline());
}

// `sleeping` is not set here, so posting threads save the system call that would wake this one.
bool event_loop::finds_something_to_do() noexcept {
  if (virtual_ || guest_ != nullptr) return false;
  const io::monotonic_time now = clock();
  const io::monotonic_time end =
      busy_poll_ < timers_.next_deadline() - now ? now + busy_poll_ : timers_.next_deadline();
  do {
    backend_->wait(io::do_not_wait, ready_);
    if (!ready_.empty() || !mailbox_->posted.empty()) return true;
  } while (clock() < end);
  return end == timers_.next_deadline();
}

void event_loop::wait_until(io::monotonic_time deadline) noexcept {
  mailbox_->sleeping.store(true, std::memory_order_seq_cst);
  // A thread that posts after this check finds `sleeping` set, and wakes this one.
  if (mailbox_->posted.empty()) {
    ++waits_;
    if (guest_ == nullptr) [[likely]]
      backend_->wait(deadline, ready_);
    else
      wait_in_guest(deadline);
  }
  mailbox_->sleeping.store(false, std::memory_order_seq_cst);
}

void event_loop::wait_in_virtual_time() noexcept {
  if (!mailbox_->posted.empty()) return;  // a timer has just posted: time stands still until that is done
  const io::monotonic_time next = timers_.next_deadline();
  if (next == io::wait_forever) return wait_for_other_threads();
  // While a thread works for this loop, its clock runs as fast as wall time. A peer in this machine that has
  // anything to send does so within moments.
  constexpr io::monotonic_time settle = 2'000'000;
  const io::monotonic_time ahead = std::max<io::monotonic_time>(0, next - virtual_now_);
  const io::monotonic_time patience = expected_posts_ > 0 ? ahead : backend_->in_flight() > 0 ? settle : 0;
  if (patience > 0) {
    const io::monotonic_time began = clock();
    wait_until(patience < io::wait_forever - began ? began + patience : io::wait_forever);
    mailbox_->posted.drain(ready_);
    const io::monotonic_time waited = clock() - began;
    if (expected_posts_ > 0) virtual_now_ += std::min(ahead, waited);
    if (!ready_.empty() || waited < patience) return;  // or it was woken for nothing
  }
  virtual_now_ = std::max(virtual_now_, next);
}

// Now only a post can wake a task. A post announced with expect_post will come, and a signal may, if a task waits for
// one. Other threads get some seconds of wall time. A silent program that sleeps for ever would tell nobody why.
void event_loop::wait_for_other_threads() noexcept {
  constexpr io::monotonic_time patience = 5'000'000'000;
  if (expected_posts_ > 0 || backend_->in_flight() > 0 || tasks() == 0 || stops_.signals_wake_a_task())
    return wait_for_events();
  const io::monotonic_time end = clock() + patience;
  wait_until(end);
  if (!ready_.empty() || !mailbox_->posted.empty() || clock() < end) return;
  char count[24];
  std::snprintf(count, sizeof(count), "%zu", tasks());
  print_diagnostic({"gyre: deadlock: nothing can wake ", count, tasks() == 1 ? " task" : " tasks",
                    " of this loop, whose time is virtual:"});
  print_waiting_tasks(root_);
  std::abort();
}

}  // namespace gyre
