// gyre/loop/timer_wheel.hpp: any number of deadlines; adding and cancelling one takes constant time.
// For authors of operations.
#pragma once

#include <gyre/attributes.hpp>
#include <gyre/io/backend.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>

namespace gyre {

/// A deadline, and the function to call when it has passed. Owned by the code that arms it.
///
/// Lifetime: must not move or be destroyed while it is armed.
struct timer {
  io::monotonic_time deadline = 0;
  void (*fire)(timer&) noexcept = nullptr;  ///< called by the loop after disarming; must not block

  [[nodiscard]] bool armed() const noexcept { return link != nullptr; }

  // Kept by the wheel.
  timer* next = nullptr;
  timer** link = nullptr;
  std::uint64_t order = 0;
  std::uint16_t place = 0;
};

/// A hierarchical timing wheel: nine levels of 64 slots, the finest 2^14 ns wide. It covers every possible time.
///
/// The slots sort only roughly. A timer keeps its exact deadline and is never fired before it, and `next_deadline` is
/// exact too. Timers fire in the order of their deadlines; equal deadlines fire in the order in which they were armed.
/// Thread: belongs to one loop.
class GYRE_API timer_wheel {
 public:
  explicit timer_wheel(io::monotonic_time now) noexcept : elapsed_(tick_of(now)) {}
  timer_wheel& operator=(timer_wheel&&) = delete;

  [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }

  /// Arms a timer with `deadline` and `fire` set. O(1).
  void arm(timer& t) noexcept {
    t.order = next_order_++;
    place(t);
    ++size_;
    if (t.deadline < next_) next_ = t.deadline;
  }

  /// Disarms a timer. No-op when it is not armed. O(1).
  void disarm(timer& t) noexcept {
    if (t.link == nullptr) return;
    unlink(t);
    --size_;
    if (t.deadline <= next_) next_known_ = false;
  }

  /// The time of the next check: not after the earliest deadline; io::wait_forever when nothing is armed.
  [[nodiscard]] io::monotonic_time next_deadline() noexcept {
    if (!next_known_) find_next();
    return next_;
  }

  /// Fires every timer whose deadline is not after `now`. Timers that are armed meanwhile wait for the next call.
  void advance(io::monotonic_time now) noexcept;

 private:
  static constexpr unsigned tick_bits = 14;
  static constexpr unsigned slot_bits = 6;
  static constexpr unsigned slots = 1U << slot_bits;
  static constexpr unsigned levels = 9;  // cover every monotonic_time

  static std::uint64_t tick_of(io::monotonic_time t) noexcept {
    return t <= 0 ? 0 : static_cast<std::uint64_t>(t) >> tick_bits;
  }

  void place(timer& t) noexcept {
    std::uint64_t tick = tick_of(t.deadline);
    if (tick < elapsed_) tick = elapsed_;
    const unsigned level = static_cast<unsigned>(63 - std::countl_zero((tick ^ elapsed_) | (slots - 1))) / slot_bits;
    const unsigned slot = static_cast<unsigned>(tick >> (level * slot_bits)) & (slots - 1);
    t.place = static_cast<std::uint16_t>(level * slots + slot);
    timer*& head = heads_[t.place];
    t.next = head;
    if (head != nullptr) head->link = &t.next;
    head = &t;
    t.link = &head;
    occupied_[level] |= std::uint64_t{1} << slot;
  }

  void unlink(timer& t) noexcept {
    *t.link = t.next;
    if (t.next != nullptr) t.next->link = t.link;
    t.link = nullptr;
    if (heads_[t.place] == nullptr) occupied_[t.place / slots] &= ~(std::uint64_t{1} << (t.place % slots));
  }

  /// Finds the earliest occupied slot and the tick at which it begins. Returns false when nothing is armed.
  bool earliest_slot(unsigned& place, std::uint64_t& begin) const noexcept;
  void find_next() noexcept;
  void collect(unsigned place, io::monotonic_time now, timer*& expired) noexcept;

  std::uint64_t elapsed_;  // in ticks: every slot before it has been emptied
  std::uint64_t next_order_ = 0;
  std::size_t size_ = 0;
  io::monotonic_time next_ = io::wait_forever;
  bool next_known_ = true;
  std::uint64_t occupied_[levels] = {};
  timer* heads_[levels * slots] = {};
};

}  // namespace gyre
