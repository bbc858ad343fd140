// src/loop/stop_observer.cpp: the stop level of the process, and the loops that observe it.
#include <gyre/loop/event_loop.hpp>
#include <gyre/loop/stop_observer.hpp>

#include <algorithm>
#include <atomic>
#include <mutex>

namespace gyre {
namespace {

constinit std::atomic<stop_level> process_level{stop_level::none};
constinit std::atomic<bool> process_has_interest{false};

constinit std::mutex stop_lock;  // for everything below; never taken in a signal handler
constinit node_list<stop_observers> stop_loops;
constinit stop_level announced_level = stop_level::none;  // announced to all loops
constinit stop_authority* deciding_authority = nullptr;
constinit stop_observers* deciding_loop = nullptr;

void raise_process_level(stop_level level) noexcept {
  stop_level now = process_level;
  while (now < level && !process_level.compare_exchange_weak(now, level)) {
  }
}

}  // namespace

stop_level stop_observers::level() noexcept { return process_level; }

void stop_observers::note_interest() noexcept {
  if (!process_has_interest.load(std::memory_order_relaxed)) process_has_interest = true;
}

// ---- observers, on their loop

void stop_observers::add(stop_observer& observer) noexcept {
  list_.link_last(observer);
  observer.listed = true;
  ++size_;
  if (observer.role != stop_role::bystander) ++std::atomic_ref(count_of(observer.role));
  const stop_level reached = level();
  observer.heard = reached;
  if (reached == stop_level::none) return;
  // The observer may end before the authority counts the servers.
  if (observer.role != stop_role::bystander) note_interest();
  observer.told(observer, reached);
}

void stop_observers::remove(stop_observer& observer) noexcept {
  if (!observer.listed) return;
  list_.unlink(observer);
  observer.listed = false;
  --size_;
  if (observer.role == stop_role::bystander) return;
  --std::atomic_ref(count_of(observer.role));
  if (level() == stop_level::none) return;
  if (observer.role == stop_role::waiter) return note_interest();  // also for a run that begins now
  const std::scoped_lock lock(stop_lock);
  if (deciding_loop != nullptr) deciding_loop->ring();
}

// Observers may remove themselves and others. Every remaining observer is visited, some perhaps twice.
void stop_observers::tell(stop_level level) noexcept {
  for (std::size_t n = size_; n > 0 && !list_.empty(); --n) {
    stop_observer& each = *list_.first();
    list_.unlink(each);
    list_.link_last(each);
    if (each.heard >= level) continue;
    each.heard = level;
    each.told(each, level);
  }
}

// ---- the bell, which makes a loop look at the level

void stop_observers::ring() noexcept {
  if (!std::atomic_ref(rung_).exchange(true)) loop_->post(bell_);
}

void stop_observers::answer() noexcept {
  std::atomic_ref(rung_).store(false);  // first: a level raised from here on rings again
  const stop_level announced = std::atomic_ref(announced_).exchange(stop_level::none);
  decide();
  tell(std::max(announced, level()));
}

void stop_observers::ring_all(const stop_observers* except) noexcept {
  const stop_level reached = level();
  if (announced_level >= reached) return;
  announced_level = reached;
  for (stop_observers* each = stop_loops.first(); each != nullptr; each = each->next)
    if (each != except) {
      std::atomic_ref(each->announced_).store(reached);
      each->ring();
    }
}

void stop_observers::decide() noexcept {
  const stop_level reached = level();
  if (reached == stop_level::none) return;
  stop_authority* authority = nullptr;
  int servers = 0;
  bool observed = process_has_interest;
  {
    const std::scoped_lock lock(stop_lock);
    if (deciding_loop != this) return;
    authority = deciding_authority;
    for (stop_observers* each = stop_loops.first(); each != nullptr; each = each->next) {
      servers += std::atomic_ref(each->servers_);
      observed = observed || std::atomic_ref(each->waiters_) > 0;
    }
  }
  raise_process_level(authority->decide(*authority, reached, observed || servers > 0, servers));
  const std::scoped_lock lock(stop_lock);
  ring_all(this);
}

void stop_observers::request() noexcept {
  stop_level none = stop_level::none;
  if (!process_level.compare_exchange_strong(none, stop_level::requested)) return;
  const std::scoped_lock lock(stop_lock);
  if (deciding_loop != nullptr)
    deciding_loop->ring();
  else
    ring_all(nullptr);
}

// ---- the authority

void stop_observers::take_authority(stop_authority& authority) noexcept {
  const std::scoped_lock lock(stop_lock);
  deciding_authority = &authority;
  deciding_loop = this;
  if (level() != stop_level::none) ring();
}

void stop_observers::give_up_authority() noexcept {
  settle();  // a level that was raised but not handled yet still concerns the other loops
  {
    const std::scoped_lock lock(stop_lock);
    if (deciding_loop == this) {
      deciding_authority = nullptr;
      deciding_loop = nullptr;
      reset();
    }
  }
  settle();
}

bool stop_observers::signals_wake_a_task() const noexcept {
  if (waiters_ == 0) return false;
  const std::scoped_lock lock(stop_lock);
  return deciding_loop != nullptr;
}

void stop_observers::raise_to(stop_level level) noexcept {
  raise_process_level(level);
  ring();
}

void stop_observers::reset() noexcept {
  process_level = stop_level::none;
  announced_level = stop_level::none;
  process_has_interest = false;
}

// ---- the loop

void stop_observers::join(event_loop& loop) noexcept {
  loop_ = &loop;
  bell_.owner = this;
  bell_.complete = call_member<&bell::on_complete>;
  const std::scoped_lock lock(stop_lock);
  stop_loops.link_last(*this);
  joined_ = true;
}

void stop_observers::leave() noexcept {
  if (!joined_) return;
  {
    const std::scoped_lock lock(stop_lock);
    stop_loops.unlink(*this);
    joined_ = false;
    if (stop_loops.empty() && deciding_loop == nullptr) reset();
  }
  settle();
}

bool stop_observers::knows(std::uint32_t loop) noexcept {
  const std::scoped_lock lock(stop_lock);
  const stop_observers* each = stop_loops.first();
  while (each != nullptr && each->loop_->number() != loop) each = each->next;
  return each != nullptr;
}

// For a loop that no longer turns on its own.
void stop_observers::settle() noexcept {
  if (loop_->is_of_parent()) return;
  while (std::atomic_ref(rung_)) loop_->turn(false);
}

// ---- fork

void stop_observers::before_fork() noexcept { stop_lock.lock(); }
void stop_observers::after_fork() noexcept { stop_lock.unlock(); }

// The loops belong to the parent, and so does the request.
void stop_observers::after_fork_in_child() noexcept {
  for (stop_observers* each = stop_loops.first(); each != nullptr; each = stop_loops.first()) {
    stop_loops.unlink(*each);
    each->joined_ = false;
  }
  deciding_authority = nullptr;
  deciding_loop = nullptr;
  reset();
  stop_lock.unlock();
}

}  // namespace gyre
