// src/loop/loop_values.hpp: the loop_local values of one loop.
#pragma once

#include <cstddef>
#include <vector>

namespace gyre {

/// A table of values by the number of their loop_local, which destroys them in the reverse order of their creation.
/// Thread: that of the loop.
class loop_values {
 public:
  [[nodiscard]] void* find(std::size_t number) const noexcept {
    return number < by_number_.size() ? by_number_[number] : nullptr;
  }
  /// Errors: std::bad_alloc; nothing was added.
  void add(std::size_t number, void* value, void (*destroy)(void*) noexcept) {
    if (number >= by_number_.size()) by_number_.resize(number + 1, nullptr);
    in_order_.push_back({number, value, destroy});
    by_number_[number] = value;
  }
  /// A destructor may use other values, and even create new ones; these are destroyed as well.
  static void destroy_all(loop_values*& values) noexcept {
    while (values != nullptr && !values->in_order_.empty()) {
      const entry last = values->in_order_.back();
      values->in_order_.pop_back();
      values->by_number_[last.number] = nullptr;
      last.destroy(last.value);
    }
    delete values;
    values = nullptr;
  }

 private:
  struct entry {
    std::size_t number;
    void* value;
    void (*destroy)(void*) noexcept;
  };
  std::vector<void*> by_number_;
  std::vector<entry> in_order_;
};

}  // namespace gyre
