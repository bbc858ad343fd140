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

// The name with its length in front of it, in one block.
struct task_state::task_name {
  std::size_t length;

  static task_name* create(std::string_view text) {
    if (text.empty()) return nullptr;
    auto* const name = ::new (frame_pool::allocate(sizeof(task_name) + text.size())) task_name{text.size()};
    std::memcpy(name + 1, text.data(), text.size());
    return name;
  }
  void destroy() noexcept { frame_pool::deallocate(this, sizeof(task_name) + length); }
  [[nodiscard]] std::string_view text() const noexcept { return {reinterpret_cast<const char*>(this + 1), length}; }
};

task_state& task_state::create(frame_base& frame, cancel_scope& parent, task_owner* owner, const spawn_options& options,
                               std::source_location where) {
  void* const memory = frame_pool::allocate(sizeof(task_state));
  task_name* name = nullptr;
  try {
    name = task_name::create(options.name);
  } catch (...) {
    frame_pool::deallocate(memory, sizeof(task_state));
    throw;
  }
  auto* const state = ::new (memory) task_state(frame);
  state->name_ = name;
  frame.context = state;
  state->owner_ = owner;
  state->spawned_at = where;
  static constexpr task_kind spawned{&coroutine_ended, &describe};
  state->kind = &spawned;
  state->complete = &begin;
  state->root.open(*state, &parent);
  event_loop& loop = event_loop::current();
  state->loop_ = &loop;
  const task_context* const spawning = loop.running_task();
  state->locals = task_local_binding::share(spawning != nullptr ? spawning->locals : task_local_binding::visible());
  state->place_ = loop.task_began();
  if (options.eager && !state->cancel_pending)
    begin(*state);
  else
    loop.schedule(*state);
  return *state;
}

// A task that was cancelled before it has begun does not begin, however it was spawned.
void task_state::begin(io::completion& c) noexcept {
  auto& state = static_cast<task_state&>(c);
  if (!state.cancel_pending) {
    event_loop& loop = *state.loop_;
    task_context* const before = loop.running_task();  // of an eager start
    loop.set_running_task(&state);
    state.outermost->handle().resume();
    loop.set_running_task(before);
    return;
  }
  state.outermost->failure = std::make_exception_ptr(cancelled());
  state.finish();
}

// Called by the outermost coroutine on its way out: its frame may not be destroyed before it has got there.
void task_state::coroutine_ended(task_context& context) noexcept {
  auto& state = static_cast<task_state&>(context);
  state.complete = [](io::completion& c) noexcept { static_cast<task_state&>(c).finish(); };
  state.loop_->schedule(state);
}

void task_state::finish() noexcept {
  done_ = true;
  innermost = nullptr;
  if (outermost->failure) failure_ = std::move(outermost->failure);
  root.close();
  place_ = loop_->task_ended();
  if (owner_ != nullptr) owner_->child_ended(*owner_, *this);
  tell_watchers();
  // With the frame go the arguments: the stream of a connection, say, however long its handle is kept.
  if (!has_value_ || failure_) destroy_frame();
  release();
}

void task_state::destroy_frame() noexcept {
  if (outermost != nullptr) std::exchange(outermost, nullptr)->handle().destroy();
}

// In the order in which they came: each has put itself in front of the others.
void task_state::tell_watchers() noexcept {
  task_watcher* in_order = nullptr;
  for (task_watcher* each = std::exchange(watchers_, nullptr); each != nullptr;) {
    task_watcher* const following = std::exchange(each->next_, in_order);
    each->link_ = nullptr;
    in_order = each;
    each = following;
  }
  while (in_order != nullptr) {
    task_watcher& each = *std::exchange(in_order, in_order->next_);
    each.ended_(each);
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
  } catch (...) {  // only asked what it is
    return false;
  }
}

void task_state::release() noexcept {
  if (--references_ > 0) return;
  if (!observed_ && failure() && !was_cancelled()) event_loop::report({failure(), name(), spawned_at});
  destroy_frame();
  task_local_binding::release(locals);
  if (name_ != nullptr) name_->destroy();
  this->~task_state();
  frame_pool::deallocate(this, sizeof(task_state));
}

void task_watcher::watch(const char* operation) noexcept {
  task_->check_loop(operation);
  hold();
  next_ = task_->watchers_;
  link_ = &task_->watchers_;
  if (next_ != nullptr) next_->link_ = &next_;
  task_->watchers_ = this;
}

void task_watcher::stop_watching() noexcept {
  if (link_ == nullptr) return;
  *link_ = next_;
  if (next_ != nullptr) next_->link_ = link_;
  link_ = nullptr;
}

void join_op::start() noexcept {
  if (waiter->context == &watched()) misuse("a task awaits its own handle, and would wait for ever");
  operation_base::cancel = [](cancellable& c) noexcept {
    auto& self = static_cast<join_op&>(static_cast<operation_base&>(c));
    if (!self.watches()) return;  // the task has ended: success beats cancel
    self.stop_watching();
    self.finish_soon();
  };
  watch("co_await");
}

}  // namespace gyre
