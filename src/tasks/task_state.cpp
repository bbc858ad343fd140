// src/tasks/task_state.cpp: the life of a spawned task.
#include <gyre/coro/cancelled.hpp>
#include <gyre/coro/nested_frames.hpp>
#include <gyre/coro/owned.hpp>
#include <gyre/io/printable.hpp>
#include <gyre/loop/task_local.hpp>
#include <gyre/tasks/join_op.hpp>
#include <gyre/tasks/task_cancelled.hpp>

#include <cstdio>
#include <cstring>
#include <new>
#include <typeinfo>
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

const task_kind task_state::kind_of_spawned{&coroutine_ended, &describe, &top_scope};

// Every member is written once, after the last call: writes are half the cost of spawn.
task_state::task_state(frame_base* frame, event_loop& loop, cancel_scope& parent, task_owner* owner,
                       std::source_location where, task_name* name, task_local_binding* seen) noexcept
    : io::completion{.complete = &begin},
      task_context{.scope = &root, .locals = seen, .kind = &kind_of_spawned, .open = 1},
      outermost(frame),
      root(*this, parent),
      spawned_at(where),
      loop_(&loop),
      owner_(owner),
      name_(name),
      place_(loop.task_began()) {}

namespace {
task_local_binding* seen_by_new_task(const event_loop& loop) noexcept {
  const task_context* const spawning = loop.running_task();
  return task_local_binding::share(spawning != nullptr ? spawning->locals : task_local_binding::visible());
}
}  // namespace

task_state::task_state(std::size_t size, const task_kind& own_kind, event_loop& loop, cancel_scope& parent,
                       task_owner* owner, const spawn_options& options, std::source_location where)
    : task_state(nullptr, loop, parent, owner, where, options.name.empty() ? nullptr : task_name::create(options.name),
                 nullptr) {
  locals = seen_by_new_task(loop);
  kind = &own_kind;
  value_ = value_place::none;
  size_ = static_cast<std::uint32_t>(size);
}

task_state& task_state::create(frame_base& frame, event_loop& loop, cancel_scope& parent, task_owner* owner,
                               const spawn_options& options, std::source_location where) {
  owned<task_name*, &task_name::destroy> name(options.name.empty() ? nullptr : task_name::create(options.name));
  void* const memory = frame_pool::allocate(sizeof(task_state));
  auto* const state =
      ::new (memory) task_state(&frame, loop, parent, owner, where, name.release(), seen_by_new_task(loop));
  frame.context = state;
  if (options.eager && !state->cancel_pending) [[unlikely]] {
    task_context* const interrupted = loop.running_task();
    begin(*state);
    loop.set_running_task(interrupted);
  } else {
    loop.schedule(*state);
  }
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
  state.was_cut_off_ = true;
  state.finish();
}

// Called by the outermost coroutine as it ends. Its frame must not be destroyed before it has suspended.
void task_state::coroutine_ended(task_context& context) noexcept {
  auto& state = static_cast<task_state&>(context);
  state.was_cut_off_ = context.cancel_pending;
  state.complete = call_member<&task_state::finish>;
  state.loop_->schedule(state);
}

[[gnu::always_inline]] inline void task_state::conclude() noexcept {
  done_ = true;
  root.close_with_task();
  place_ = loop_->task_ended();
  if (owner_ != nullptr) owner_->child_ended(*owner_, *this);
  bool passed_on = false;  // the running task's reference, to the first watcher; the others get their own
  while (task_watcher* const first = watchers_) {
    watchers_ = first->next_;
    if (watchers_ != nullptr) watchers_->link_ = &watchers_;
    first->link_ = &first->next_;
    if (std::exchange(passed_on, true)) add_reference();
    if (first->ended_ == &join_op::task_ended) [[likely]]  // a call in line, for the most frequent watcher
      static_cast<join_op*>(first)->finish_soon();
    else
      first->ended_(*first);
  }
  // The frame holds the arguments, such as the stream of a connection. Destroying it releases them,
  // however long the handle is kept.
  if (value_ == value_place::none) {
    if (was_cut_off_) loop_->set_running_task(this);  // its streams see that they are destroyed by a cancel
    destroy_frame();
    if (was_cut_off_) loop_->set_running_task(nullptr);
  }
  if (!passed_on) release();
}

void task_state::finish() noexcept {
  if (outermost->failure) [[unlikely]] {
    failure_ = std::move(outermost->failure);
    value_ = value_place::none;
  }
  conclude();
}

void task_state::run(task<>&& coroutine) noexcept {
  outermost = &coroutine.frame();
  outermost->context = this;
  const auto begun = std::move(coroutine).release();
  loop_->set_running_task(this);
  begun.resume();
}

std::exception_ptr task_state::leave_coroutine() noexcept {
  std::exception_ptr failure = std::move(outermost->failure);
  destroy_frame();
  return failure;
}

void task_state::end(std::exception_ptr failure) noexcept {
  failure_ = std::move(failure);
  conclude();
}

void task_state::destroy_frame() noexcept {
  if (outermost != nullptr) std::exchange(outermost, nullptr)->handle().destroy();
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
  char line[16];
  std::snprintf(line, sizeof(line), "%u", static_cast<unsigned>(spawned_at.line()));
  print_diagnostic({"gyre: the handle of a running task was dropped (", shown, ", spawned at ", spawned_at.file_name(),
                    ":", line, "); keep it, or call detach() to let the task run on"});
}

void task_state::rethrow() const {
  if (was_cancelled()) throw task_cancelled();
  std::rethrow_exception(failure());
}

task_description task_state::describe(const task_context& context) noexcept {
  const auto& state = static_cast<const task_state&>(context);
  return {state.name().data(), state.name().size(), state.spawned_at, state.place_};
}

const cancel_scope* task_state::top_scope(const task_context& context) noexcept {
  return &static_cast<const task_state&>(context).loop_->root_scope();
}

std::string_view task_state::name() const noexcept { return name_ == nullptr ? std::string_view() : name_->text(); }

namespace {

// Without throwing, which costs half of the end of a cancelled task. Only libstdc++ tells the type.
template <class Pointer>
bool is_exactly_cancelled(const Pointer& failure) noexcept {
  if constexpr (requires { failure.__cxa_exception_type(); })
    return *failure.__cxa_exception_type() == typeid(cancelled);
  else
    return false;
}

}  // namespace

bool task_state::was_cancelled() const noexcept {
  if (!failure()) return false;
  if (is_exactly_cancelled(failure())) return true;
  try {
    std::rethrow_exception(failure());
  } catch (const cancelled&) {
    return true;
  } catch (...) {  // only its type matters here
    return false;
  }
}

[[gnu::noinline]] void task_state::drop_failure() noexcept {
  if (!observed_ && !was_cancelled()) event_loop::report({failure(), name(), spawned_at});
  failure_ = nullptr;
}

void task_state::free() noexcept {
  // A frame that still holds its value may own the handle of the next such task.
  if (outermost != nullptr) destroy_nested(*outermost);
  if (failure_) [[unlikely]]
    drop_failure();
  task_local_binding::release(locals);
  if (name_ != nullptr) name_->destroy();
  // No destructor, because the members hold nothing any more: finish() has closed `root`.
  if (size_ == sizeof(task_state)) [[likely]]  // a constant finds its list in the pool without computing
    frame_pool::deallocate(this, sizeof(task_state));
  else
    frame_pool::deallocate(this, size_);
}

[[gnu::noinline]] void task_watcher::watch_on_other_loop(const char* operation) noexcept {
  task_->check_loop(operation);
  join_the_others();
}

void task_watcher::stop_watching() noexcept {
  if (!watches()) return;
  *link_ = next_;
  (next_ == nullptr ? task_->watchers_end_ : next_->link_) = link_;
  link_ = &next_;
  task_->add_reference();
}

void join_op::stop_awaiting_itself() noexcept { misuse("a task awaits its own handle, and would wait for ever"); }

void join_op::on_cancel() noexcept {
  if (!watches()) return;  // the task has ended: success beats cancel
  stop_watching();
  finish_soon();
}

}  // namespace gyre
