// src/tasks/task_state.cpp: the life of a spawned task.
#include <gyre/coro/cancelled.hpp>
#include <gyre/loop/task_local.hpp>
#include <gyre/tasks/task_state.hpp>

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
  state->ended = &coroutine_ended;
  state->complete = &begin;
  state->root.open(*state, &parent);
  event_loop& loop = event_loop::current();
  if (loop.running_task() != nullptr) state->locals = task_local_binding::share(loop.running_task()->locals);
  loop.task_began();
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
    event_loop& loop = event_loop::current();
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
  event_loop::current().schedule(state);
}

void task_state::finish() noexcept {
  done_ = true;
  innermost = nullptr;
  root.close();
  event_loop::current().task_ended();
  if (owner_ != nullptr) owner_->child_ended(*owner_, *this);
  wake_joiners();
  release();
}

// In the order in which they came: each has put itself in front of the others.
void task_state::wake_joiners() noexcept {
  join_op* in_order = nullptr;
  for (join_op* op = std::exchange(joiners_, nullptr); op != nullptr;) {
    join_op* const following = std::exchange(op->next_, in_order);
    op->link_ = nullptr;
    in_order = op;
    op = following;
  }
  if (in_order != nullptr) observed_ = true;
  for (join_op* op = in_order; op != nullptr; op = op->next_) op->finish_soon();
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
  outermost->handle().destroy();
  task_local_binding::release(locals);
  if (name_ != nullptr) name_->destroy();
  this->~task_state();
  frame_pool::deallocate(this, sizeof(task_state));
}

bool join_op::try_now() noexcept { return task_->done(); }

void join_op::start() noexcept {
  next_ = task_->joiners_;
  link_ = &task_->joiners_;
  if (next_ != nullptr) next_->link_ = &next_;
  task_->joiners_ = this;
  operation_base::cancel = [](cancellable& c) noexcept {
    auto& self = static_cast<join_op&>(c);
    if (self.link_ == nullptr) return;  // the task has ended: success beats cancel
    *self.link_ = self.next_;
    if (self.next_ != nullptr) self.next_->link_ = self.link_;
    self.link_ = nullptr;
    self.finish_soon();
  };
}

void join_op::await_resume() {
  if (!task_->done()) throw_cancelled();
}

}  // namespace gyre
