// gyre/tasks/shared_task.hpp: a task whose result several tasks await.
#pragma once

#include <gyre/coro/frame_pool.hpp>
#include <gyre/coro/misuse.hpp>
#include <gyre/loop/owner_loop.hpp>
#include <gyre/tasks/as_task.hpp>
#include <gyre/tasks/spawn.hpp>
#include <gyre/tasks/task_handle.hpp>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <source_location>
#include <type_traits>
#include <utility>

namespace gyre {

/// Runs once, when it is first awaited, and gives its result to every awaiter, then or later. Copies share it.
///
/// It runs as a task of the loop, separate from its awaiters: a cancel of an awaiter does not reach it. It is cancelled
/// when the last copy is destroyed.
/// Thread: belongs to one loop.
template <class T = void>
class shared_task {
 public:
  using value_type = T;
  using gyre_awaitable_tag = void;

  explicit shared_task(task<T> work, std::source_location where = std::source_location::current())
      : state_(new state{std::move(work), where}) {}
  /// The same for `f()`: a lambda and its captures live as long as the task.
  template <class F>
    requires(!gyre_awaitable<F>)
  explicit shared_task(F f, std::source_location where = std::source_location::current())
      : shared_task(made_by(std::move(f)), where) {}
  shared_task(const shared_task& other) noexcept : state_(other.state_) {
    if (state_ == nullptr) return;
    state_->owner.check("copy");
    ++state_->references;
  }
  shared_task(shared_task&& other) noexcept : state_(std::exchange(other.state_, nullptr)) {}
  shared_task& operator=(shared_task other) noexcept {
    std::swap(state_, other.state_);
    return *this;
  }
  ~shared_task() {
    auto* const ended = std::exchange(state_, nullptr);
    if (ended == nullptr) return;
    ended->owner.check("destructor");
    if (--ended->references == 0) delete ended;
  }

  struct [[nodiscard("co_await it")]] result_op : join_op {
    using join_op::join_op;
    std::add_lvalue_reference_t<const T> await_resume() {
      join_op::await_resume();
      if (watched().failure()) watched().rethrow();
      if constexpr (!std::is_void_v<T>) return watched().template promise<T>().value();
    }
  };

  /// Starts the task if it was not started yet, and waits for its result.
  ///
  /// Lifetime: the reference is valid while a copy of the shared_task exists. Cancel: stops waiting; the task continues
  /// for the others. Errors: the task's exception, to each awaiter; task_cancelled when the end of the loop has
  /// cancelled it; std::bad_alloc.
  result_op operator co_await() const { return result_op(shared("co_await").running_task()); }

  [[nodiscard]] bool done() const noexcept { return shared("done").started && (*state_->running).done(); }

 private:
  template <class F>
  GYRE_CORO_WRAPPER static task<T> made_by(F&& f) {
    static_assert(task_function<F>, "shared_task takes a task, or a function without parameters that returns one");
    if constexpr (task_function<F>) return call_in_frame(std::move(f));
  }
  struct state {
    task<T> work;
    std::source_location where;
    task_reference running;
    std::uint32_t references = 1;
    bool started = false;
    owner_loop_of<"a shared_task"> owner;

    state(task<T>&& lazy, std::source_location made_at) noexcept : work(std::move(lazy)), where(made_at) {}
    static void* operator new(std::size_t size) { return frame_pool::allocate(size); }
    static void operator delete(void* memory, std::size_t size) noexcept { frame_pool::deallocate(memory, size); }
    ~state() {
      if (started && !(*running).done()) (*running).root.cancel();
    }
    task_state& running_task() {
      if (!started) {
        event_loop& loop = event_loop::current();
        task_state& task = task_state::create(std::move(work), loop, loop.root_scope(), nullptr, {}, where);
        task.mark_observed();
        running = task_reference(task);
        started = true;
      }
      return *running;
    }
  };
  [[nodiscard]] state& shared(const char* operation) const noexcept {
    if (state_ == nullptr) [[unlikely]]
      misuse("a shared_task that was moved from was used: use the object that it was moved to, or a copy");
    state_->owner.check(operation);
    return *state_;
  }

  state* state_;
};

template <class F>
  requires task_function<F>
shared_task(F, std::source_location = {}) -> shared_task<typename decltype(std::declval<F&>()())::value_type>;

}  // namespace gyre
