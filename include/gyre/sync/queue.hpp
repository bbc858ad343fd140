// gyre/sync/queue.hpp: passes items from producer tasks to consumer tasks.
#pragma once

#include <gyre/sync/item_storage.hpp>
#include <gyre/sync/sync_error.hpp>
#include <gyre/sync/wait_queue.hpp>

#include <cstddef>
#include <optional>
#include <utility>

namespace gyre {

/// The treatment of a queue's items on shutdown: get takes them to the end, or they are dropped.
enum class queue_shutdown_mode : bool { drain, immediate };

template <class Storage>
class basic_queue;

/// The operation of put(): waits for room.
template <class Storage>
class [[nodiscard("co_await it"), gnu::warn_unused]] queue_put_op : public queued_operation<queue_put_op<Storage>> {
 public:
  using value_type = typename Storage::value_type;
  queue_put_op(basic_queue<Storage>& queue, value_type&& item) noexcept : target_(&queue), item_(std::move(item)) {}
  bool try_now() {
    target_->owner_.check("put");
    this->refused = target_->shut_down_;
    return this->refused || target_->accept(item_);
  }
  wait_queue& waits_in() noexcept { return target_->putters_; }
  static std::error_code refusal() noexcept { return sync_errc::shut_down; }
  [[noreturn]] static void refuse() { throw queue_shut_down(); }

 private:
  friend class basic_queue<Storage>;
  basic_queue<Storage>* target_;
  value_type item_;
};

/// The operation of get(): waits for an item.
template <class Storage>
class [[nodiscard("co_await it"), gnu::warn_unused]] queue_get_op
    : public queued_operation<queue_get_op<Storage>, typename Storage::value_type> {
 public:
  using value_type = typename Storage::value_type;
  explicit queue_get_op(basic_queue<Storage>& queue) noexcept : source_(&queue) {}
  bool try_now() {
    source_->owner_.check("get");
    item_ = source_->try_get();
    this->refused = !item_ && source_->shut_down_;
    return item_ || this->refused;
  }
  wait_queue& waits_in() noexcept { return source_->getters_; }
  value_type take_value() noexcept { return std::move(*item_); }
  static constexpr bool result_is_granted = true;
  void give_back() noexcept { source_->take_back(std::move(*item_)); }
  static std::error_code refusal() noexcept { return sync_errc::shut_down; }
  [[noreturn]] static void refuse() { throw queue_shut_down(); }

 private:
  friend class basic_queue<Storage>;
  basic_queue<Storage>* source_;
  std::optional<value_type> item_;
};

/// The operation of join(): waits until every item has been processed.
template <class Storage>
class [[nodiscard("co_await it"), gnu::warn_unused]] queue_join_op : public queued_operation<queue_join_op<Storage>> {
 public:
  explicit queue_join_op(basic_queue<Storage>& queue) noexcept : queue_(&queue) {}
  bool try_now() noexcept {
    queue_->owner_.check("join");
    return queue_->unfinished_ == 0;
  }
  wait_queue& waits_in() noexcept { return queue_->joiners_; }

 private:
  basic_queue<Storage>* queue_;
};

/// The common part of all queues. asyncio's Queue, PriorityQueue and LifoQueue are queue, priority_queue and
/// lifo_queue.
///
/// The longest waiting task is served first, for both put and get. A put hands its item directly to a waiting get.
/// Thread: belongs to one loop (see shared_channel). Lifetime: must outlive the tasks that wait for it.
template <class Storage>
class basic_queue {
 public:
  using value_type = typename Storage::value_type;
  static constexpr std::size_t unbounded = static_cast<std::size_t>(-1);

  /// Holds at most `capacity` items. It must be at least one.
  explicit basic_queue(std::size_t capacity) noexcept : capacity_(capacity) {
    if (capacity == 0) misuse("a queue needs room for one item; for none see channel");
  }
  basic_queue& operator=(basic_queue&&) = delete;

  /// Adds an item. Waits for room first when the queue is full.
  ///
  /// Cancel: the item was not added, and is destroyed with the operation. A put that came first wins over the cancel.
  /// Errors: queue_shut_down.
  [[nodiscard("co_await it")]] queue_put_op<Storage> put(value_type item) noexcept { return {*this, std::move(item)}; }

  /// Takes the next item. Waits for one when there is none.
  ///
  /// Cancel: no item was taken. An item that came first wins over the cancel. Errors: queue_shut_down, when it is
  /// empty.
  [[nodiscard("co_await it")]] queue_get_op<Storage> get() noexcept { return queue_get_op<Storage>(*this); }

  /// Returns true when the item was added. Returns false, and leaves `item` unchanged, when the queue is full or shut
  /// down.
  [[nodiscard]] bool try_put(value_type& item) {
    owner_.check("try_put");
    return !shut_down_ && accept(item);
  }
  [[nodiscard]] bool try_put(value_type&& item) { return try_put(item); }

  /// Takes the next item, or returns nothing when there is none now.
  [[nodiscard]] std::optional<value_type> try_get() {
    owner_.check("try_get");
    if (items_.empty()) return std::nullopt;
    std::optional<value_type> item(items_.pop());
    if (wait_node* const first = putters_.first(); first != nullptr && !full()) {
      auto& putter = static_cast<queue_put_op<Storage>&>(*first);
      store(putter.item_);
      putters_.grant_one();
    }
    return item;
  }

  /// Records that a taken item has been processed. Stops the program when there was none.
  void task_done() noexcept {
    owner_.check("task_done");
    if (unfinished_ == 0) misuse("task_done was called more often than items were put into the queue");
    if (--unfinished_ == 0) joiners_.grant_all();
  }

  /// Waits until task_done has been called for every item that was added.
  ///
  /// Cancel: stops waiting.
  [[nodiscard("co_await it")]] queue_join_op<Storage> join() noexcept { return queue_join_op<Storage>(*this); }

  using shutdown_mode = queue_shutdown_mode;
  /// From now on put fails, and so does get when the queue is empty. In mode `immediate` the remaining items are
  /// dropped and count as processed.
  void shut_down(queue_shutdown_mode mode = queue_shutdown_mode::drain) noexcept {
    owner_.check("shut_down");
    shut_down_ = true;
    putters_.refuse_all();
    if (mode == queue_shutdown_mode::immediate) {
      drops_ = true;
      unfinished_ -= items_.size();
      items_.clear();
      if (unfinished_ == 0) joiners_.grant_all();
    }
    getters_.refuse_all();  // they wait because it is empty
  }

  [[nodiscard]] std::size_t size() const noexcept {
    owner_.check("size");
    return items_.size();
  }
  [[nodiscard]] std::size_t capacity() const noexcept { return capacity_; }
  [[nodiscard]] bool empty() const noexcept { return size() == 0; }
  [[nodiscard]] bool full() const noexcept { return size() >= capacity_; }

 private:
  friend class queue_put_op<Storage>;
  friend class queue_get_op<Storage>;
  friend class queue_join_op<Storage>;

  // Returns the item of a get whose result was discarded. It becomes the next item again, even above the capacity.
  // After an immediate shutdown it is dropped like the others.
  void take_back(value_type&& item) noexcept {
    if (drops_) {
      if (--unfinished_ == 0) joiners_.grant_all();
      return;
    }
    if (wait_node* const first = getters_.first()) {
      static_cast<queue_get_op<Storage>&>(*first).item_.emplace(std::move(item));
      getters_.grant_one();
      return;
    }
    try {
      items_.put_back(std::move(item));
    } catch (...) {
      report_lost_item();
    }
  }
  void store(value_type& item) {
    items_.push(std::move(item));
    ++unfinished_;
  }
  bool accept(value_type& item) {
    if (wait_node* const first = getters_.first()) {  // then the queue is empty
      static_cast<queue_get_op<Storage>&>(*first).item_.emplace(std::move(item));
      ++unfinished_;
      getters_.grant_one();
      return true;
    }
    if (full()) return false;
    store(item);
    return true;
  }

  Storage items_;
  std::size_t capacity_;
  std::size_t unfinished_ = 0;
  bool shut_down_ = false;
  bool drops_ = false;  // shut down at once
  owner_loop_of<"a queue"> owner_;
  wait_queue_of<"a queue"> putters_;
  wait_queue_of<"a queue"> getters_;
  wait_queue_of<"a queue"> joiners_;
};

/// First in, first out.
template <class T>
class queue : public basic_queue<fifo_storage<T>> {
 public:
  using basic_queue<fifo_storage<T>>::basic_queue;
};

/// Last in, first out.
template <class T>
class lifo_queue : public basic_queue<lifo_storage<T>> {
 public:
  using basic_queue<lifo_storage<T>>::basic_queue;
};

/// The default order: `a < b`.
struct natural_order {
  template <class T>
  bool operator()(const T& a, const T& b) const {
    return a < b;
  }
};

/// The smallest first; equal ones in the order of arrival.
template <class T, class Before = natural_order>
class priority_queue : public basic_queue<priority_storage<T, Before>> {
 public:
  using basic_queue<priority_storage<T, Before>>::basic_queue;
};

/// Queues that never make the producer wait. Only the producers limit their memory use.
template <class T>
class unbounded_queue : public basic_queue<fifo_storage<T>> {
 public:
  unbounded_queue() noexcept : basic_queue<fifo_storage<T>>(basic_queue<fifo_storage<T>>::unbounded) {}
};
template <class T>
class unbounded_lifo_queue : public basic_queue<lifo_storage<T>> {
 public:
  unbounded_lifo_queue() noexcept : basic_queue<lifo_storage<T>>(basic_queue<lifo_storage<T>>::unbounded) {}
};
template <class T, class Before = natural_order>
class unbounded_priority_queue : public basic_queue<priority_storage<T, Before>> {
 public:
  unbounded_priority_queue() noexcept
      : basic_queue<priority_storage<T, Before>>(basic_queue<priority_storage<T, Before>>::unbounded) {}
};

}  // namespace gyre
