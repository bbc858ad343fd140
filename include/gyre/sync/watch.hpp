// gyre/sync/watch.hpp: a value that changes, for tasks that need its latest state.
#pragma once

#include <gyre/coro/misuse.hpp>
#include <gyre/sync/source_link.hpp>
#include <gyre/sync/wait_queue.hpp>

#include <cstdint>
#include <utility>

namespace gyre {

template <class T>
class watch;
template <class T>
class watcher;

/// The operation of changed(): waits until there is a value that the watcher has not seen.
template <class T>
class [[nodiscard("co_await it"), gnu::warn_unused]] watch_changed_op
    : public queued_operation<watch_changed_op<T>, bool> {
 public:
  explicit watch_changed_op(watcher<T>& on_behalf_of) noexcept : watcher_(&on_behalf_of) {}
  bool try_now() noexcept {
    watcher_->source().check_loop("changed", "a watcher");
    ended_ = !watcher_->has_changed() && watcher_->source().closed_;
    return ended_ || watcher_->has_changed();
  }
  wait_queue& waits_in() noexcept { return watcher_->source().waiters_; }
  // Determined at the moment of the change: another task may have read the value with the same watcher since.
  bool take_value() const noexcept { return !ended_; }

 private:
  friend class watch<T>;
  watcher<T>* watcher_;
  bool ended_ = false;
};

/// Observes changes of a watch. It sees the latest value, not every intermediate one.
///
/// Lifetime: may outlive its watch, but only to be destroyed or assigned to; any other use stops the program. Thread:
/// belongs to one loop.
template <class T>
class watcher {
 public:
  /// Waits until the value differs from the last one seen. Returns false when the watch is closed and the last value
  /// was seen. Several tasks may wait with one watcher; each of them resumes at the next change.
  ///
  /// Cancel: stops waiting; the change remains unseen.
  [[nodiscard("co_await it")]] watch_changed_op<T> changed() noexcept { return watch_changed_op<T>(*this); }

  /// Returns the current value, which then counts as seen.
  [[nodiscard]] const T& value() noexcept {
    source().check_loop("value", "a watcher");
    seen_ = source().version_;
    return source().value_;
  }
  [[nodiscard]] bool has_changed() const noexcept {
    source().check_loop("has_changed", "a watcher");
    return seen_ != watched_->version_;
  }

 private:
  friend class watch<T>;
  friend class watch_changed_op<T>;
  explicit watcher(watch<T>& watched) noexcept
      : watched_(&watched), link_(watched.watchers_), seen_(watched.version_) {}
  [[nodiscard]] watch<T>& source() const noexcept {
    if (link_.is_gone()) [[unlikely]]
      misuse(
          "a watcher was used after its watch was destroyed: let the watch live longer, and close it when it has no "
          "more changes");
    return *watched_;
  }

  watch<T>* watched_;
  source_link link_;
  std::uint64_t seen_;
};

/// A value whose changes can be waited for: configuration, state of a connection, progress.
///
/// Thread: belongs to one loop. Lifetime: must outlive every use of its watchers.
template <class T>
class watch {
 public:
  explicit watch(T initial) : value_(std::move(initial)) {}
  watch& operator=(watch&&) = delete;

  /// Watches for changes from now on.
  [[nodiscard]] watcher<T> subscribe() noexcept { return watcher<T>(*this); }

  void set(T value) {
    check_loop("set", "a watch");
    value_ = std::move(value);
    note_change();
  }
  /// Changes the value in place: `f(value)`.
  template <class F>
  void modify(F f) {
    check_loop("modify", "a watch");
    f(value_);
    note_change();
  }
  /// Closes the watch: no more changes will come. Idempotent.
  void close() noexcept {
    check_loop("close", "a watch");
    closed_ = true;
    while (wait_node* const first = waiters_.first()) {  // the waiters have seen the last value
      static_cast<watch_changed_op<T>&>(*first).ended_ = true;
      waiters_.grant_one();
    }
  }
  [[nodiscard]] const T& value() const noexcept {
    check_loop("value", "a watch");
    return value_;
  }

 private:
  friend class watcher<T>;
  friend class watch_changed_op<T>;
  void check_loop(const char* operation, const char* object) const noexcept {
    watchers_.owner.check(operation, object);
  }
  void note_change() noexcept {
    ++version_;
    waiters_.grant_all();
  }

  T value_;
  std::uint64_t version_ = 0;
  bool closed_ = false;
  wait_queue_of<"a watch"> waiters_;
  source_links watchers_;
};

}  // namespace gyre
