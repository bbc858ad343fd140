// src/loop/timer_wheel.cpp: finding, cascading and firing timers.
#include <gyre/loop/timer_wheel.hpp>

#include <algorithm>

namespace gyre {
namespace {

bool is_due_before(const timer& a, const timer& b) noexcept {
  return a.deadline != b.deadline ? a.deadline < b.deadline : a.order < b.order;
}

timer* merge(timer* a, timer* b) noexcept {
  timer* merged = nullptr;
  timer** end = &merged;
  while (a != nullptr && b != nullptr) {
    timer*& first = is_due_before(*b, *a) ? b : a;
    *end = first;
    end = &first->next;
    first = first->next;
  }
  *end = a != nullptr ? a : b;
  return merged;
}

// Takes the first `count` timers off `list` and sorts them. Merge sort needs no memory.
timer* take_sorted(timer*& list, std::size_t count) noexcept {
  if (count == 1) {
    timer* const one = list;
    list = one->next;
    one->next = nullptr;
    return one;
  }
  timer* const first_half = take_sorted(list, count / 2);
  timer* const second_half = take_sorted(list, count - count / 2);
  return merge(first_half, second_half);
}

}  // namespace

bool timer_wheel::earliest_slot(unsigned& place, std::uint64_t& begin) const noexcept {
  for (unsigned level = 0; level < levels; ++level) {
    if (occupied_[level] == 0) continue;
    const unsigned slot = static_cast<unsigned>(std::countr_zero(occupied_[level]));
    const unsigned shift = level * slot_bits;
    const std::uint64_t prefix = elapsed_ >> (shift + slot_bits) << (shift + slot_bits);
    place = level * slots + slot;
    begin = prefix | (std::uint64_t{slot} << shift);
    return true;
  }
  return false;
}

void timer_wheel::find_next() noexcept {
  next_known_ = true;
  next_ = io::wait_forever;
  unsigned place = 0;
  std::uint64_t begin = 0;
  if (!earliest_slot(place, begin)) return;
  // A coarse slot is usually visited only to be spread over finer ones. With few timers in it, their
  // exact minimum saves that wake-up.
  constexpr int few = 16;
  int seen = 0;
  for (const timer* t = heads_[place]; t != nullptr; t = t->next) {
    if (place >= slots && ++seen > few) {
      next_ = static_cast<io::monotonic_time>(begin << tick_bits);
      return;
    }
    next_ = std::min(next_, t->deadline);
  }
}

// Takes the due timers of one slot into a list. The rest of a coarse slot is spread over finer ones.
void timer_wheel::collect(unsigned place, io::monotonic_time now, timer*& expired) noexcept {
  timer* t = heads_[place];
  heads_[place] = nullptr;
  occupied_[place / slots] &= ~(std::uint64_t{1} << (place % slots));
  while (t != nullptr) {
    timer* const following = t->next;
    if (t->deadline <= now) {
      t->next = expired;
      if (expired != nullptr) expired->link = &t->next;
      t->link = &expired;
      expired = t;
    } else {
      this->place(*t);
    }
    t = following;
  }
}

void timer_wheel::advance(io::monotonic_time now) noexcept {
  if (size_ == 0) {
    elapsed_ = std::max(elapsed_, tick_of(now));
    return;
  }
  const std::uint64_t now_tick = tick_of(now);
  timer* expired = nullptr;
  unsigned slot = 0;
  std::uint64_t begin = 0;
  while (earliest_slot(slot, begin) && begin <= now_tick) {
    elapsed_ = std::max(elapsed_, begin);
    collect(slot, now, expired);
    if (begin == now_tick && slot < slots) break;  // the remaining timers are due later within this tick
  }
  elapsed_ = std::max(elapsed_, now_tick);
  next_known_ = false;

  // The list is unsorted here. `fire` may disarm other timers in the list, so it stays linked.
  if (expired != nullptr && expired->next != nullptr) {
    std::size_t count = 0;
    for (const timer* t = expired; t != nullptr; t = t->next) ++count;
    expired = take_sorted(expired, count);
    for (timer** link = &expired; *link != nullptr; link = &(*link)->next) (*link)->link = link;
  }
  while (expired != nullptr) {
    timer& t = *expired;
    expired = t.next;
    if (expired != nullptr) expired->link = &expired;
    t.link = nullptr;
    --size_;
    t.fire(t);
  }
}

}  // namespace gyre
