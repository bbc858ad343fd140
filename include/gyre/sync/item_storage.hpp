// gyre/sync/item_storage.hpp: stores the items of a queue and defines their order. For authors of operations.
#pragma once

#include <cstddef>
#include <new>
#include <type_traits>
#include <utility>
#include <vector>

namespace gyre {

/// First in, first out. Grows by doubling and keeps its memory: no allocation in a steady state.
template <class T>
class fifo_storage {
  static_assert(std::is_nothrow_move_constructible_v<T>, "an item must not be lost half-way: its move must not throw");

 public:
  using value_type = T;

  fifo_storage() noexcept = default;
  fifo_storage& operator=(fifo_storage&&) = delete;
  ~fifo_storage() {
    clear();
    deallocate(slots_);
  }

  [[nodiscard]] bool empty() const noexcept { return first_ == last_; }
  [[nodiscard]] std::size_t size() const noexcept { return last_ - first_; }
  /// Errors: std::bad_alloc; the item was not moved.
  void push(T&& item) {
    if (size() == capacity_) grow();
    ::new (static_cast<void*>(slot(last_))) T(std::move(item));
    ++last_;
  }
  /// Same as push, but the item becomes the next one again.
  void put_back(T&& item) {
    if (size() == capacity_) grow();
    ::new (static_cast<void*>(slot(first_ - 1))) T(std::move(item));
    --first_;
  }
  /// Takes the next item. There must be one.
  T pop() noexcept {
    T* const from = slot(first_++);
    T item(std::move(*from));
    from->~T();
    return item;
  }
  void clear() noexcept {
    while (!empty()) slot(first_++)->~T();
  }

 private:
  [[nodiscard]] T* slot(std::size_t number) const noexcept { return slots_ + (number & (capacity_ - 1)); }
  static void deallocate(T* memory) noexcept { ::operator delete(memory, std::align_val_t(alignof(T))); }
  [[gnu::noinline]] void grow() {  // rare: not in line, so that push is
    const std::size_t larger = capacity_ == 0 ? 4 : capacity_ * 2;
    T* const memory = static_cast<T*>(::operator new(larger * sizeof(T), std::align_val_t(alignof(T))));
    const std::size_t count = size();
    for (std::size_t i = 0; i < count; ++i) ::new (static_cast<void*>(memory + i)) T(pop());
    deallocate(std::exchange(slots_, memory));
    capacity_ = larger;
    first_ = 0;
    last_ = count;
  }

  T* slots_ = nullptr;
  std::size_t capacity_ = 0;  // a power of two, or 0
  std::size_t first_ = 0;     // numbers of items, which wrap around
  std::size_t last_ = 0;
};

/// Last in, first out.
template <class T>
class lifo_storage {
  static_assert(std::is_nothrow_move_constructible_v<T>, "an item must not be lost half-way: its move must not throw");

 public:
  using value_type = T;
  [[nodiscard]] bool empty() const noexcept { return items_.empty(); }
  [[nodiscard]] std::size_t size() const noexcept { return items_.size(); }
  /// Errors: std::bad_alloc; the item was not moved.
  void push(T&& item) { items_.push_back(std::move(item)); }
  void put_back(T&& item) { push(std::move(item)); }
  T pop() noexcept {
    T item(std::move(items_.back()));
    items_.pop_back();
    return item;
  }
  void clear() noexcept { items_.clear(); }

 private:
  std::vector<T> items_;
};

/// The smallest first; equal ones in the order of arrival.
template <class T, class Before>
class priority_storage {
  static_assert(std::is_nothrow_move_constructible_v<T> && std::is_nothrow_move_assignable_v<T>,
                "an item must not be lost half-way: its moves must not throw");

 public:
  using value_type = T;
  [[nodiscard]] bool empty() const noexcept { return heap_.empty(); }
  [[nodiscard]] std::size_t size() const noexcept { return heap_.size(); }
  /// Errors: std::bad_alloc; the item was not moved. `Before` must not throw.
  void push(T&& item) {
    // Reserves before the item moves: otherwise the item would be lost with an entry that could not be allocated.
    if (heap_.size() == heap_.capacity()) heap_.reserve(heap_.empty() ? 4 : heap_.size() * 2);
    heap_.push_back({std::move(item), count_++});
    for (std::size_t at = heap_.size() - 1; at > 0 && before(heap_[at], heap_[(at - 1) / 2]); at = (at - 1) / 2)
      std::swap(heap_[at], heap_[(at - 1) / 2]);
  }
  void put_back(T&& item) { push(std::move(item)); }
  T pop() noexcept {
    T item(std::move(heap_.front().item));
    if (heap_.size() > 1) heap_.front() = std::move(heap_.back());
    heap_.pop_back();
    sink();
    return item;
  }
  void clear() noexcept { heap_.clear(); }

 private:
  struct entry {
    T item;
    std::size_t number;
  };
  static bool before(const entry& a, const entry& b) noexcept {
    if (Before()(a.item, b.item)) return true;
    return !Before()(b.item, a.item) && a.number < b.number;
  }
  void sink() noexcept {
    for (std::size_t at = 0;;) {
      std::size_t least = at;
      for (const std::size_t child : {2 * at + 1, 2 * at + 2})
        if (child < heap_.size() && before(heap_[child], heap_[least])) least = child;
      if (least == at) return;
      std::swap(heap_[at], heap_[least]);
      at = least;
    }
  }

  std::vector<entry> heap_;
  std::size_t count_ = 0;
};

}  // namespace gyre
