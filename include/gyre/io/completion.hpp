// gyre/io/completion.hpp: an entry that a loop calls once, and the queue of such entries. For authors of operations.
#pragma once

#include <utility>

namespace gyre::io {

/// A link in the ready list, and the function that is called when the entry is taken from the list.
///
/// Lifetime: must not move or be destroyed while it is in a list.
struct completion {
  completion* next = nullptr;
  void (*complete)(completion&) noexcept = nullptr;
};

/// First-in, first-out queue of completions. Intrusive: it owns and allocates nothing.
class ready_list {
 public:
  ready_list() noexcept = default;
  ready_list& operator=(ready_list&&) = delete;

  [[nodiscard]] bool empty() const noexcept { return first_ == nullptr; }

  void push_back(completion& item) noexcept {
    item.next = nullptr;
    *(first_ == nullptr ? &first_ : &last_->next) = &item;
    last_ = &item;
  }

  void push_front(completion& item) noexcept {
    if (first_ == nullptr) last_ = &item;
    item.next = std::exchange(first_, &item);
  }

  /// Takes the first item; the list must not be empty.
  completion& pop_front() noexcept {
    completion& item = *first_;
    first_ = item.next;
    return item;
  }

  [[nodiscard]] completion* front() const noexcept { return first_; }

  /// Moves everything from `other` to the end of this list.
  void splice_back(ready_list& other) noexcept {
    if (other.first_ == nullptr) return;
    *(first_ == nullptr ? &first_ : &last_->next) = other.first_;
    last_ = other.last_;
    other.first_ = nullptr;
  }

 private:
  completion* first_ = nullptr;
  completion* last_ = nullptr;
};

}  // namespace gyre::io
