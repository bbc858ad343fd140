// src/tasks/task_state.cpp: the life of a spawned task.
#include <gyre/coro/cancelled.hpp>
#include <gyre/tasks/task_state.hpp>

#include <cstring>
#include <new>

namespace gyre {

task_state& task_state::create(std::coroutine_handle<> coroutine, frame_base& frame,
                               const std::exception_ptr& (*failure_of)(std::coroutine_handle<>) noexcept,
                               cancel_scope& parent, task_owner* owner, const spawn_options& options,
                               std::source_location where) {
  auto* const state = ::new (frame_pool::allocate(sizeof(task_state))) task_state;
  if (!options.name.empty()) {
    auto* const copy = static_cast<char*>(frame_pool::allocate(options.name.size()));
    std::memcpy(copy, options.name.data(), options.name.size());
    state->name_ = copy;
    state->name_length_ = static_cast<std::uint32_t>(options.name.size());
  }
  frame.context = state;
  state->coroutine = coroutine;
  state->failure_of_ = failure_of;
  state->owner_ = owner;
  state->spawned_at = where;
  state->ended = &coroutine_ended;
  state->complete = &begin;
  state->root.open(*state, &parent);
  event_loop& loop = event_loop::current();
  loop.task_began();
  loop.schedule(*state);
  return *state;
}

void task_state::begin(io::completion& c) noexcept { static_cast<task_state&>(c).coroutine.resume(); }

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
  for (join_op* op = joiners_; op != nullptr;) {
    join_op* const following = op->next_;
    op->link_ = nullptr;
    observed_ = true;
    op->finish_soon();
    op = following;
  }
  joiners_ = nullptr;
  release();
}

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
  coroutine.destroy();
  if (name_ != nullptr) frame_pool::deallocate(const_cast<char*>(name_), name_length_);
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
