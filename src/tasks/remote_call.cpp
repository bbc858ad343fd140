// src/tasks/remote_call.cpp: the messages of a call to another loop.
#include <gyre/coro/cancelled.hpp>
#include <gyre/coro/misuse.hpp>
#include <gyre/loop/loop_group.hpp>
#include <gyre/tasks/remote_call.hpp>
#include <gyre/tasks/task_cancelled.hpp>

#include <atomic>
#include <utility>

namespace gyre {
namespace {

constexpr unsigned char cancel_mark = 1;  // set at home: a cancel has been sent, unless end_mark was set before
constexpr unsigned char end_mark = 2;     // set on the target: the function has ended

}  // namespace

remote_call::~remote_call() {
  if (home_ != nullptr)
    misuse("a coroutine was destroyed while another loop runs a function for it (on); cancel and await it first");
}

void remote_call::send(io::completion& message, void (*answered)(io::completion&) noexcept) noexcept {
  if (target_->is_of_parent())
    misuse("on: the other loop belongs to the parent process and does not run in this one; make a runtime here");
  message_ = &message;
  answered_ = answered;
  locals_ = task_local_binding::visible();
  home_ = &event_loop::current();
  home_->expect_post();
  target_->post(message);
}

bool remote_call::accept() noexcept {
  message_->complete = answered_;
  withdrawn_ = (std::atomic_ref(marks_).load(std::memory_order_relaxed) & cancel_mark) != 0;
  return !withdrawn_;
}

void remote_call::inherit_shield() noexcept {
  const event_loop& home = event_loop::current();
  if (home.running_task() == nullptr) return;
  if (&home != target_ && (home.group() == nullptr || home.group() != target_->group())) return;
  for (const cancel_scope* each = home.running_task()->scope; each != nullptr; each = each->parent())
    shielded_ = shielded_ || each->is_shielded();
}

cancel_scope& remote_call::scope_there() const noexcept { return shielded_ ? target_->shielded_ : target_->root_; }

void remote_call::request_cancel() noexcept {
  if (home_ == nullptr || std::exchange(cancel_sent_, true)) return;
  if ((std::atomic_ref(marks_).fetch_or(cancel_mark, std::memory_order_acq_rel) & end_mark) != 0) return;
  cancel_.call = this;
  cancel_.complete = [](io::completion& item) noexcept {
    static_cast<cancel_message&>(item).call->on_cancel_arrived();
  };
  target_->post(static_cast<io::completion&>(cancel_));
}

void remote_call::on_cancel_arrived() noexcept {
  cancel_arrived_ = true;
  if ((std::atomic_ref(marks_).load(std::memory_order_relaxed) & end_mark) != 0) {
    target_->expected_post_arrived();
    home_->post(*message_);
  } else if (task_ != nullptr) {
    task_->root.cancel();
  }
}

void remote_call::answer() noexcept {
  const unsigned char before = std::atomic_ref(marks_).fetch_or(end_mark, std::memory_order_acq_rel);
  if ((before & cancel_mark) == 0 || cancel_arrived_) {
    home_->post(*message_);
  } else {
    target_->expect_post();  // the answer waits for the cancel, and so does the end of this loop
  }
}

void remote_call::arrived() noexcept { std::exchange(home_, nullptr)->expected_post_arrived(); }

bool remote_call::take_failure(task_state& ended) noexcept {
  failure_ = ended.take_failure();
  return failure_ != nullptr;
}

// The arguments, the exception (take_failure) and the task_local values belong to the caller. They may end on this
// thread only before the caller continues.
void remote_call::release_task() noexcept {
  task_->destroy_frame();
  task_local_binding::release(std::exchange(task_->locals, nullptr));
  std::exchange(task_, nullptr)->release();
}

void remote_call::rethrow_failure() {
  if (withdrawn_) throw_cancelled();
  if (!failure_) return;
  const std::exception_ptr failure = std::move(failure_);
  try {
    std::rethrow_exception(failure);
  } catch (const cancelled&) {
    event_loop& here = event_loop::current();
    // The end of the runtime has reached the other loop first.
    if (here.group() != nullptr && here.group()->is_ending()) here.root_scope().cancel();
    if (cancel_sent_ || (here.running_task() != nullptr && here.running_task()->cancel_pending)) throw;
    throw task_cancelled();
  }
}

}  // namespace gyre
