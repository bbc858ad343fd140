// src/tasks/task_state.cpp: the life of a spawned task.
#include <gyre/coro/cancelled.hpp>
#include <gyre/loop/task_local.hpp>
#include <gyre/tasks/join_op.hpp>
#include <gyre/tasks/task_cancelled.hpp>

#include <cstdio>
#include <cstring>
#include <new>
#include <utility>

namespace gyre {

// The name, preceded by its length, in one block.
struct task_state::task_name {
  std::size_t length;

  static task_name* create(std::string_view text) {
    auto* const name = ::new (frame_pool::allocate(sizeof(task_name) + text.size())) task_name{text.size()};
    std::memcpy(name + 1, text.data(), text.size());
    return name;
  }
  void destroy() noexcept { frame_pool::deallocate(this, sizeof(task_name) + length); }
  [[nodiscard]] std::string_view text() const noexcept { return {reinterpret_cast<const char*>(this + 1), length}; }
};

// Every member is written once, after the last call: writes are half the cost of spawn.
task_state::task_state(frame_base& frame, event_loop& loop, task_owner* owner, std::source_location where,
                       task_name* name, task_local_binding* seen) noexcept
    : outermost(&frame), spawned_at(where), loop_(&loop), owner_(owner), name_(name), place_(loop.task_began()) {
  static constexpr task_kind spawned{&coroutine_ended, &describe};
  kind = &spawned;
  complete = &begin;
  locals = seen;
}

task_state& task_state::create(frame_base& frame, cancel_scope& parent, task_owner* owner, const spawn_options& options,
                               std::source_location where) {
  event_loop& loop = event_loop::current();
  task_name* const name = options.name.empty() ? nullptr : task_name::create(options.name);
  void* memory = nullptr;
  try {
    memory = frame_pool::allocate(sizeof(task_state));
  } catch (...) {
    if (name != nullptr) name->destroy();
    throw;
  }
  const task_context* const spawning = loop.running_task();
  task_local_binding* const seen =
      task_local_binding::share(spawning != nullptr ? spawning->locals : task_local_binding::visible());
  auto* const state = ::new (memory) task_state(frame, loop, owner, where, name, seen);
  frame.context = state;
  state->root.open(*state, &parent);
  if (options.eager && !state->cancel_pending)
    state->begin_at_once();
  else
    loop.schedule(*state);
  return *state;
}

// Called from the ready queue. A task that was cancelled before it begins never runs.
void task_state::begin(io::completion& c) noexcept {
  auto& state = static_cast<task_state&>(c);
  if (!state.cancel_pending) [[likely]] {
    state.loop_->set_running_task(&state);
    return state.outermost->handle().resume();
  }
  state.outermost->failure = std::make_exception_ptr(cancelled());
  state.finish();
}

// Runs inside spawn, on top of the spawning task.
void task_state::begin_at_once() noexcept {
  event_loop& loop = *loop_;
  task_context* const spawning = loop.running_task();
  begin(*this);
  loop.set_running_task(spawning);
}

// Called by the outermost coroutine as it ends. Its frame must not be destroyed before it has suspended.
void task_state::coroutine_ended(task_context& context) noexcept {
  auto& state = static_cast<task_state&>(context);
  state.complete = call_member<&task_state::finish>;
  state.loop_->schedule(state);
}

void task_state::finish() noexcept {
  done_ = true;
  innermost = nullptr;
  if (outermost->failure) failure_ = std::move(outermost->failure);
  root.close_with_task();
  place_ = loop_->task_ended();
  if (owner_ != nullptr) owner_->child_ended(*owner_, *this);
  tell_watchers();
  // The frame holds the arguments, such as the stream of a connection. Destroying it releases them,
  // however long the handle is kept.
  if (value_ == value_place::none || failure_) destroy_frame();
  release();
}

void task_state::destroy_frame() noexcept {
  if (outermost != nullptr) std::exchange(outermost, nullptr)->handle().destroy();
}

// In the order in which they were added: the list has the latest first.
void task_state::tell_watchers() noexcept {
  task_watcher* each = std::exchange(watchers_, nullptr);
  if (each == nullptr) return;
  if (each->next_ == nullptr) [[likely]] {
    each->link_ = nullptr;
    return each->ended_(*each);
  }
  task_watcher* in_order = nullptr;
  while (each != nullptr) {
    task_watcher* const following = std::exchange(each->next_, in_order);
    each->link_ = nullptr;
    in_order = each;
    each = following;
  }
  while (in_order != nullptr) {
    task_watcher& first = *std::exchange(in_order, in_order->next_);
    first.ended_(first);
  }
}

void task_state::stop_without_value() const noexcept {
  misuse(done_ ? "the value of a task was taken for the second time, by co_await or result(); it is moved out the "
                 "first time: "
                 "keep it, or let several tasks await a shared_task"
               : "result() of a task that has not ended; co_await the handle, or ask done() first");
}

void task_state::note_dropped_handle() const noexcept {
  if (done_ || owner_ != nullptr || root.cancelled()) return;
  const std::string_view shown = name().empty() ? "without a name" : name();
  std::fprintf(
      stderr,
      "gyre: the handle of a running task was dropped (%.*s, spawned at %s:%u); keep it, or call detach() to let the "
      "task run on\n",
      static_cast<int>(shown.size()), shown.data(), spawned_at.file_name(), spawned_at.line());
}

void task_state::rethrow() const {
  if (was_cancelled()) throw task_cancelled();
  std::rethrow_exception(failure());
}

task_description task_state::describe(const task_context& context) noexcept {
  const auto& state = static_cast<const task_state&>(context);
  return {state.name().data(), state.name().size(), state.spawned_at, state.place_};
}

std::string_view task_state::name() const noexcept { return name_ == nullptr ? std::string_view() : name_->text(); }

bool task_state::was_cancelled() const noexcept {
  if (!failure()) return false;
  try {
    std::rethrow_exception(failure());
  } catch (const cancelled&) {
    return true;
  } catch (...) {  // only its type matters here
    return false;
  }
}

[[gnu::noinline]] void task_state::report_failure() const noexcept {
  if (!was_cancelled()) event_loop::report({failure(), name(), spawned_at});
}

void task_state::free() noexcept {
  if (!observed_ && failure()) [[unlikely]]
    report_failure();
  destroy_frame();
  task_local_binding::release(locals);
  if (name_ != nullptr) name_->destroy();
  this->~task_state();
  frame_pool::deallocate(this, sizeof(task_state));
}

inline void task_watcher::join_the_others() noexcept {
  hold();
  next_ = task_->watchers_;
  link_ = &task_->watchers_;
  if (next_ != nullptr) next_->link_ = &next_;
  task_->watchers_ = this;
}

void task_watcher::watch(const char* operation) noexcept {
  if (!task_->is_on_running_loop()) [[unlikely]]
    return watch_on_other_loop(operation);
  join_the_others();
}

[[gnu::noinline]] void task_watcher::watch_on_other_loop(const char* operation) noexcept {
  task_->check_loop(operation);
  join_the_others();
}

void task_watcher::stop_watching() noexcept {
  if (link_ == nullptr) return;
  *link_ = next_;
  if (next_ != nullptr) next_->link_ = link_;
  link_ = nullptr;
}

void join_op::start() noexcept {
  if (waiter->context == &watched()) misuse("a task awaits its own handle, and would wait for ever");
  watch("co_await");
}

void join_op::on_cancel() noexcept {
  if (!watches()) return;  // the task has ended: success beats cancel
  stop_watching();
  finish_soon();
}

}  // namespace gyre
