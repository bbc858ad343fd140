// gyre/tasks/task_state.hpp: a spawned task: its outermost coroutine, its owner, and the watchers of its end.
// For authors of operations; users hold a task_handle.
#pragma once

#include <gyre/attributes.hpp>
#include <gyre/coro/task.hpp>
#include <gyre/loop/operation.hpp>

#include <cstdint>
#include <exception>
#include <source_location>
#include <string_view>
#include <type_traits>
#include <utility>

namespace gyre {

struct spawn_options {
  std::string_view name = {};  ///< for diagnostics: logs, call stacks, the list of tasks. Copied.
  /// Starts inside the call of spawn and runs there until it first waits. Otherwise starts when the caller next waits.
  bool eager = false;
};

struct task_state;

/// Notified when a task has ended, before its awaiters. Called on the loop, from the ready queue.
struct task_owner {
  void (*child_ended)(task_owner&, task_state&) noexcept = nullptr;
};

/// Notified once when a task ends, unless it has stopped watching. Keeps the task's state from then on. While it
/// watches, the running task keeps the state.
///
/// Lifetime: movable only until it watches. Thread: belongs to the loop of the task.
class GYRE_API task_watcher {
 public:
  /// `ended` is called while the task ends, in the order in which the watchers were added. It must not resume a task.
  task_watcher(task_state& task, void (*ended)(task_watcher&) noexcept) noexcept : task_(&task), ended_(ended) {}
  task_watcher(const task_watcher& other) noexcept : task_(other.task_), ended_(other.ended_) {}
  task_watcher& operator=(const task_watcher&) = delete;
  ~task_watcher();

  /// Starts watching. Stops the program when the task belongs to another loop: `operation` was called on its handle.
  void watch(const char* operation = "waiting") noexcept;
  /// Returns true when the task has ended. Its state then lives as long as this operation, even if the handle is
  /// dropped before the waiting task runs.
  bool keep_if_ended() noexcept;
  /// Idempotent.
  void stop_watching() noexcept;
  /// True after `watch` while the task has not ended.
  [[nodiscard]] bool watches() const noexcept { return link_ != nullptr && link_ != &next_; }
  [[nodiscard]] task_state& watched() const noexcept { return *task_; }

 private:
  friend struct task_state;
  void join_the_others() noexcept;
  void watch_on_other_loop(const char* operation) noexcept;
  task_state* task_;
  void (*ended_)(task_watcher&) noexcept;
  task_watcher* next_ = nullptr;
  // The pointer to this watcher in the task's list. &next_ when it has left the list; it then holds a reference to the
  // task. Null before it watches.
  task_watcher** link_ = nullptr;
};

/// Shared by the running task, its handle and its watchers. Freed by the last of them.
///
/// A derived class is a task that is a coroutine only at times. In between it waits without a frame: it sets `leaf` and
/// `innermost` itself, and is called by what it waits for. It has its own task_kind. Its members hold nothing any more
/// when it calls end(): no destructor runs.
struct GYRE_API task_state : io::completion, task_context {
 private:
  enum class value_place : std::uint8_t { none, frame, taken };  // the frame stays while it holds the value

  // First, so that they use the space after the flag of task_context.
  bool done_ : 1 = false;
  bool observed_ : 1 = false;
  bool was_cut_off_ : 1 = false;  // its coroutine ended in a cancelled scope
  value_place value_ = value_place::frame;
  std::uint32_t references_ = 2;  // one held by the running task, one by the caller of create
  std::uint32_t size_ = sizeof(task_state);

 public:
  /// Takes over the outermost frame of a task; `root` becomes the task's outermost scope, below `parent`. The caller
  /// owns one reference.
  static task_state& create(frame_base& frame, event_loop& loop, cancel_scope& parent, task_owner* owner,
                            const spawn_options& options, std::source_location where);

  template <class T>
  static task_state& create(task<T>&& started, event_loop& loop, cancel_scope& parent, task_owner* owner,
                            const spawn_options& options, std::source_location where) {
    task_state& state = create(started.frame(), loop, parent, owner, options, where);
    (void)std::move(started).release();  // only now: without memory the task still frees its frame
    if constexpr (std::is_void_v<T>) state.value_ = value_place::none;
    return state;
  }

  /// To be called while the frame exists.
  template <class T>
  [[nodiscard]] typename task<T>::promise_type& promise() const noexcept {
    return static_cast<typename task<T>::promise_type&>(*outermost);
  }

  [[nodiscard]] bool done() const noexcept { return done_; }
  /// After the end: the exception that left the task, `cancelled` included; null when it returned.
  [[nodiscard]] const std::exception_ptr& failure() const noexcept { return failure_; }
  /// After the end: true when it ended because of a cancel.
  [[nodiscard]] bool was_cancelled() const noexcept;
  /// After the end: true when an exception other than `cancelled` left it.
  [[nodiscard]] bool has_failed() const noexcept { return failure() && !was_cancelled(); }
  /// After the end: its position in the order in which the tasks of this loop have ended.
  [[nodiscard]] std::uint64_t ended_as() const noexcept { return place_; }
  [[nodiscard]] std::string_view name() const noexcept;

  void add_reference() noexcept { ++references_; }
  void release() noexcept {
    if (--references_ == 0) free();
  }
  /// After the end, when the value is no longer needed: frees the frame, and with it the arguments of the task.
  /// Idempotent.
  void destroy_frame() noexcept;
  /// The handle is destroyed without detach(). Prints a line when the task continues without an owner.
  void note_dropped_handle() const noexcept;
  [[nodiscard]] bool is_on_running_loop() const noexcept { return loop_ == event_loop::current_or_null(); }
  /// Stops the program when the task belongs to another loop: `operation` was called on its handle, or on another
  /// `object` that represents it.
  void check_loop(const char* operation, const char* object = "a task_handle") const noexcept {
    if (!is_on_running_loop()) [[unlikely]]
      stop_on_other_loop(operation, object);
  }
  /// The same in debug builds only, and only while the task runs. Any thread may use the handle of a task that has
  /// ended, and all tasks have ended when their loop has.
  void check_handle(const char* operation) const noexcept {
    if constexpr (checks_everything)
      if (!done_) check_loop(operation);
  }
  /// Marks the failure as seen: it is not reported as a background failure.
  void mark_observed() noexcept { observed_ = true; }

  /// After the end: moves the exception out. The task keeps no reference to it, and does not report it.
  [[nodiscard]] std::exception_ptr take_failure() noexcept { return std::exchange(failure_, nullptr); }

  /// After an end with an exception: throws it, `task_cancelled` instead of `cancelled`.
  [[noreturn]] void rethrow() const;
  /// After the end: returns the value, once, or throws the task's exception, every time, `task_cancelled` instead of
  /// `cancelled`. Stops the program when the task runs, or when its value is requested again.
  template <class T>
  T outcome() {
    if (!done_ || value_ == value_place::taken) [[unlikely]]
      stop_without_value();
    mark_observed();
    if (failure()) [[unlikely]]
      rethrow();
    if constexpr (std::is_void_v<T> || std::is_reference_v<T>) {
      return take<T>();
    } else {
      value_ = value_place::taken;
      T value = take<T>();
      destroy_frame();  // with its arguments, which may be handles of further tasks, however long this handle is kept
      return value;
    }
  }
  /// After the end: moves the value out, once, or throws the task's exception, `cancelled` included.
  template <class T>
  T take() {
    if (failure()) [[unlikely]]
      std::rethrow_exception(failure());
    if constexpr (!std::is_void_v<T>) return promise<T>().take_value();
  }

  frame_base* outermost;  ///< null while a derived task is no coroutine, and after the end of a task without a value
  cancel_scope root;
  std::source_location spawned_at;

 protected:
  /// For a derived class of this size, whose memory comes from the frame pool. The caller schedules its beginning, and
  /// owns one reference. Errors: std::bad_alloc.
  task_state(std::size_t size, const task_kind& kind, event_loop& loop, cancel_scope& parent, task_owner* owner,
             const spawn_options& options, std::source_location where);
  ~task_state() = default;

  /// Becomes a coroutine, and runs it until it waits. When it has ended, `ended` of the kind is called; the task then
  /// calls leave_coroutine() from the ready queue. To be called from the ready queue.
  void run(task<>&& coroutine) noexcept;
  /// Destroys the coroutine that has ended. Returns the exception that left it.
  [[nodiscard]] std::exception_ptr leave_coroutine() noexcept;
  /// The end of a task that is no coroutine. Frees it when nobody else refers to it. To be called from the ready queue.
  void end(std::exception_ptr failure) noexcept;
  [[nodiscard]] event_loop& loop() const noexcept { return *loop_; }
  static task_description describe(const task_context& context) noexcept;
  static const cancel_scope* top_scope(const task_context& context) noexcept;

 private:
  friend class task_watcher;
  struct task_name;
  task_state(frame_base* frame, event_loop& loop, cancel_scope& parent, task_owner* owner, std::source_location where,
             task_name* name, task_local_binding* seen) noexcept;
  static const task_kind kind_of_spawned;
  static void begin(io::completion& c) noexcept;
  static void coroutine_ended(task_context& context) noexcept;
  void finish() noexcept;
  void conclude() noexcept;
  void drop_failure() noexcept;
  void free() noexcept;
  [[noreturn]] void stop_without_value() const noexcept;

  event_loop* loop_;
  task_owner* owner_;
  task_name* name_;                   // null: no name
  task_watcher* watchers_ = nullptr;  // in the order in which they were added
  task_watcher** watchers_end_ = &watchers_;
  std::exception_ptr failure_;
  std::uint64_t place_;  // in the order of the starts of the loop's tasks; after the end, of their ends
};

inline void task_watcher::join_the_others() noexcept {
  link_ = std::exchange(task_->watchers_end_, &next_);
  *link_ = this;
}
inline void task_watcher::watch(const char* operation) noexcept {
  if (!task_->is_on_running_loop()) [[unlikely]]
    return watch_on_other_loop(operation);
  join_the_others();
}
inline bool task_watcher::keep_if_ended() noexcept {
  if (!task_->done()) return false;
  if (std::exchange(link_, &next_) == nullptr) task_->add_reference();
  return true;
}
inline task_watcher::~task_watcher() {
  if (link_ == nullptr) return;
  if (watches()) stop_watching();
  task_->release();
}

}  // namespace gyre
