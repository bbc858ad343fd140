// gyre/sync/queue.hpp: passes items from producer tasks to consumer tasks.
#pragma once

#include <gyre/sync/item_passage.hpp>

#include <cstddef>
#include <optional>
#include <utility>

namespace gyre {

/// The treatment of a queue's items on shutdown: get takes them to the end, or they are dropped.
enum class queue_shutdown_mode : bool { drain, immediate };

/// The names and errors of queues.
struct queue_words {
  static constexpr const char* put = "put";
  static constexpr const char* get = "get";
  static constexpr sync_errc refusal = sync_errc::shut_down;
  using exception = queue_shut_down;
  using owner = owner_loop_of<"a queue">;
  using waiters = wait_queue_of<"a queue">;
  template <class T>
  using result = T;
};

template <class Storage>
class basic_queue;

/// The operation of put(): waits for room.
template <class Storage>
using queue_put_op = item_put_op<Storage, queue_words>;
/// The operation of get(): waits for an item.
template <class Storage>
using queue_get_op = item_get_op<Storage, queue_words>;

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
class basic_queue : public item_passage<Storage, queue_words> {
  using base = item_passage<Storage, queue_words>;

 public:
  using value_type = typename Storage::value_type;
  static constexpr std::size_t unbounded = static_cast<std::size_t>(-1);

  /// Holds at most `capacity` items. It must be at least one.
  explicit basic_queue(std::size_t capacity) noexcept : base(capacity) {
    if (capacity == 0) misuse("a queue needs room for one item; for none see channel");
  }

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
  [[nodiscard]] bool try_put(value_type& item) { return this->try_put_now(item, "try_put"); }
  [[nodiscard]] bool try_put(value_type&& item) { return try_put(item); }

  /// Takes the next item, or returns nothing when there is none now.
  [[nodiscard]] std::optional<value_type> try_get() { return this->try_get_now("try_get"); }

  /// Records that a taken item has been processed. Stops the program when there was none.
  void task_done() noexcept {
    this->owner_.check("task_done");
    if (this->unfinished_ == 0) misuse("task_done was called more often than items were put into the queue");
    this->finish(1);
  }

  /// Waits until task_done has been called for every item that was added.
  ///
  /// Cancel: stops waiting.
  [[nodiscard("co_await it")]] queue_join_op<Storage> join() noexcept { return queue_join_op<Storage>(*this); }

  using shutdown_mode = queue_shutdown_mode;
  /// From now on put fails, and so does get when the queue is empty. In mode `immediate` the remaining items are
  /// dropped and count as processed.
  void shut_down(queue_shutdown_mode mode = queue_shutdown_mode::drain) noexcept {
    this->close_now("shut_down", mode == queue_shutdown_mode::immediate);
  }

  [[nodiscard]] bool empty() const noexcept { return this->size() == 0; }
  [[nodiscard]] bool full() const noexcept { return this->size() >= this->capacity(); }

 private:
  friend class queue_join_op<Storage>;
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
