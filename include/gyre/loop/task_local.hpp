// gyre/loop/task_local.hpp: values that belong to a task and to the tasks that it spawns.
#pragma once

#include <gyre/attributes.hpp>
#include <gyre/coro/context.hpp>
#include <gyre/coro/frame_pool.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>

namespace gyre {

/// One binding, shared by the tasks that see it. For authors of ways to run tasks.
struct GYRE_API task_local_binding {
  const void* key;
  task_local_binding* outer;
  void (*destroy)(task_local_binding&) noexcept;
  std::uint32_t references = 1;  // counted atomically: a chain may be shared with tasks of another loop

  /// The innermost binding that this code sees, or null: of the running task, or else of the task for which this thread
  /// works.
  [[nodiscard]] static task_local_binding* visible() noexcept;
  /// The innermost visible binding of `key`, or null.
  [[nodiscard]] static task_local_binding* find(const void* key) noexcept;
  /// The running task. There must be one.
  [[nodiscard]] static task_context& running_task() noexcept;
  /// Adds or removes one owner of a chain, which may be empty.
  static task_local_binding* share(task_local_binding* chain) noexcept {
    if (chain != nullptr) chain->add_owner();
    return chain;
  }
  static void release(task_local_binding* chain) noexcept {
    if (chain != nullptr) drop_owner(chain);
  }
  void add_owner() noexcept;
  static void drop_owner(task_local_binding* chain) noexcept;
  /// Ends the innermost binding of a task.
  static void unbind(task_context& task, task_local_binding& innermost) noexcept;
};

/// While it exists, code on this thread that belongs to no task sees the bindings of another task. The function of a
/// to_thread sees those of its caller.
///
/// Lifetime: `chain`, which may be null, must outlive it. Thread: stays on one thread.
class GYRE_API lent_bindings {
 public:
  explicit lent_bindings(task_local_binding* chain) noexcept;
  lent_bindings& operator=(lent_bindings&&) = delete;
  ~lent_bindings();

 private:
  task_local_binding* before_;
};

/// A value that is visible to all code inside a task without being passed along: a request's id, a user, a trace. Tasks
/// that are spawned while it is bound see it too, as long as they live, and so do functions that run in to_thread.
/// asyncio: contextvars.
///
///   gyre::task_local<std::string> request_id;            // usually a global
///   const auto bound = request_id.bind("42");            // until the end of the block
///   if (const std::string* id = request_id.get()) …      // anywhere inside, in plain functions too
///
/// Thread: bind only in a task. Tasks of another loop and functions on other threads may see the value while this task
/// changes or ends. A value that cannot be shared as const needs a lock.
template <class T>
class task_local {
 public:
  task_local() noexcept = default;
  task_local& operator=(task_local&&) = delete;

  /// Returns the bound value, or null. Works outside of tasks too. Lifetime: as long as it is bound.
  [[nodiscard]] const T* get() const noexcept {
    auto* const found = static_cast<binding*>(task_local_binding::find(this));
    return found == nullptr ? nullptr : &found->value;
  }

  struct binding : task_local_binding, pooled {
    T value;
  };

  /// Binds until it is destroyed. Bindings of one task must end in the reverse order of their creation; the program is
  /// stopped otherwise.
  class [[nodiscard("dropped at once, it ends at once")]] scope {
   public:
    scope& operator=(scope&&) = delete;
    ~scope() { task_local_binding::unbind(*task_, *made_); }

   private:
    friend class task_local;
    scope(task_context& task, binding* made) noexcept : task_(&task), made_(made) {
      task.locals = made;
      ++task.open;
    }
    task_context* task_;
    binding* made_;
  };

  /// Binds a value in this task, and in tasks that it spawns from now on. Errors: std::bad_alloc.
  scope bind(T value) const {
    task_context& task = task_local_binding::running_task();
    constexpr auto destroy = [](task_local_binding& b) noexcept { delete static_cast<binding*>(&b); };
    auto* const made = new binding{{this, nullptr, destroy}, {}, std::move(value)};
    made->outer = task_local_binding::share(task.locals);  // last, because the lines above may throw
    return scope(task, made);
  }
};

}  // namespace gyre
