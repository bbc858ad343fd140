// gyre/sync/item_passage.hpp: passes items from tasks to tasks. The common part of queue and channel.
// For authors of operations.
#pragma once

#include <gyre/sync/item_storage.hpp>
#include <gyre/sync/sync_error.hpp>
#include <gyre/sync/wait_queue.hpp>

#include <cstddef>
#include <optional>
#include <type_traits>
#include <utility>

namespace gyre {

template <class Storage, class Words>
class item_passage;

/// Waits for room, and puts an item in.
template <class Storage, class Words>
class [[nodiscard("co_await it"), gnu::warn_unused]] item_put_op
    : public queued_operation<item_put_op<Storage, Words>> {
 public:
  using value_type = typename Storage::value_type;
  item_put_op(item_passage<Storage, Words>& target, value_type&& item) noexcept
      : target_(&target), item_(std::move(item)) {}
  bool try_now() {
    target_->owner_.check(Words::put);
    this->refused = target_->closed_;
    return this->refused || target_->accept(item_);
  }
  wait_queue& waits_in() noexcept { return target_->putters_; }
  static std::error_code refusal() noexcept { return Words::refusal; }
  [[noreturn]] static void refuse() { throw typename Words::exception(); }

 private:
  friend class item_passage<Storage, Words>;
  item_passage<Storage, Words>* target_;
  value_type item_;
};

/// Waits for an item, and takes it. At the end it fails, or gives nothing, as Words say.
template <class Storage, class Words>
class [[nodiscard("co_await it"), gnu::warn_unused]] item_get_op
    : public queued_operation<item_get_op<Storage, Words>,
                              typename Words::template result<typename Storage::value_type>> {
 public:
  using value_type = typename Storage::value_type;
  using result_type = typename Words::template result<value_type>;
  explicit item_get_op(item_passage<Storage, Words>& source) noexcept : source_(&source) {}
  bool try_now() {
    source_->owner_.check(Words::get);
    item_ = source_->take();
    const bool at_end = !item_ && source_->closed_;
    if constexpr (!end_is_value) this->refused = at_end;
    return item_ || at_end;
  }
  wait_queue& waits_in() noexcept { return source_->getters_; }
  result_type take_value() noexcept {
    if constexpr (end_is_value)
      return std::move(item_);
    else
      return *std::move(item_);  // NOLINT(bugprone-unchecked-optional-access): it was not refused
  }
  static constexpr bool result_is_granted = true;
  void give_back() noexcept {
    if (item_) source_->take_back(*std::move(item_));
  }
  static std::error_code refusal() noexcept { return Words::refusal; }
  [[noreturn]] static void refuse() { throw typename Words::exception(); }

 private:
  friend class item_passage<Storage, Words>;
  static constexpr bool end_is_value = !std::is_same_v<result_type, value_type>;

  item_passage<Storage, Words>* source_;
  std::optional<value_type> item_;
};

/// Holds at most `capacity` items; with none, a put waits until its item is taken. The task that has waited longest is
/// served first, on both sides. A put hands its item directly to a get that waits. Words are the names and the errors
/// that users see.
///
/// Thread: belongs to one loop. Lifetime: must outlive the tasks that wait for it.
template <class Storage, class Words>
class item_passage {
 public:
  using value_type = typename Storage::value_type;
  item_passage& operator=(item_passage&&) = delete;

  /// The number of items in it, without those of tasks that wait.
  [[nodiscard]] std::size_t size() const noexcept {
    owner_.check("size");
    return items_.size();
  }
  [[nodiscard]] std::size_t capacity() const noexcept { return capacity_; }

 protected:
  using put_op = item_put_op<Storage, Words>;
  using get_op = item_get_op<Storage, Words>;

  explicit item_passage(std::size_t capacity) noexcept : capacity_(capacity) {}
  ~item_passage() = default;

  [[nodiscard]] bool try_put_now(value_type& item, const char* operation) {
    owner_.check(operation);
    return !closed_ && accept(item);
  }
  [[nodiscard]] std::optional<value_type> try_get_now(const char* operation) {
    owner_.check(operation);
    return take();
  }
  /// From now on nothing is accepted. `drops` drops the items that are left, too.
  void close_now(const char* operation, bool drops) noexcept {
    owner_.check(operation);
    closed_ = true;
    putters_.refuse_all();
    if (drops) {
      drops_ = true;
      finish(items_.size());
      items_.clear();
    }
    // They wait because it is empty.
    if constexpr (get_op::end_is_value)
      getters_.grant_all();
    else
      getters_.refuse_all();
  }

  /// So many of the accepted items have been processed, or dropped.
  void finish(std::size_t count) noexcept {
    unfinished_ -= count;
    if (unfinished_ == 0) joiners_.grant_all();
  }

  std::size_t unfinished_ = 0;
  bool closed_ = false;
  typename Words::owner owner_;
  typename Words::waiters joiners_;  // wait until nothing is unfinished

 private:
  friend put_op;
  friend get_op;

  std::optional<value_type> take() {
    std::optional<value_type> item;
    if (!items_.empty()) item.emplace(items_.pop());
    wait_node* const first = putters_.first();
    if (first == nullptr || (item && items_.size() >= capacity_)) return item;
    value_type& next = static_cast<put_op&>(*first).item_;
    if (item)
      items_.push(std::move(next));
    else
      item.emplace(std::move(next));
    ++unfinished_;
    putters_.grant_one();
    return item;
  }
  // Returns the item of a get whose result was discarded. It becomes the next item again, even above the capacity.
  // After an end that drops items it is dropped like the others.
  void take_back(value_type&& item) noexcept {
    if (drops_) return finish(1);
    if (hand_over(item)) return;
    try {
      items_.put_back(std::move(item));
    } catch (...) {
      report_lost_item();
    }
  }
  bool accept(value_type& item) {
    if (!hand_over(item)) {
      if (items_.size() >= capacity_) return false;
      items_.push(std::move(item));
    }
    ++unfinished_;
    return true;
  }
  bool hand_over(value_type& item) {
    wait_node* const first = getters_.first();  // if there is one, this is empty
    if (first == nullptr) return false;
    static_cast<get_op&>(*first).item_.emplace(std::move(item));
    getters_.grant_one();
    return true;
  }

  Storage items_;
  std::size_t capacity_;
  bool drops_ = false;
  typename Words::waiters putters_;
  typename Words::waiters getters_;
};

}  // namespace gyre
