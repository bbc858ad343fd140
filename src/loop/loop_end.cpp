// src/loop/loop_end.cpp: how a loop ends: tasks, then loop_local values, then what is in flight.
#include <gyre/coro/misuse.hpp>
#include <gyre/loop/event_loop.hpp>
#include <gyre/loop/loop_group.hpp>

#include "loop_values.hpp"
#include "mailbox.hpp"

namespace gyre {

bool event_loop::has_nothing_to_do() const noexcept {
  return tasks() == 0 && expected_posts_ == 0 && ready_.empty() && mailbox_->posted.empty();
}

// Streams in loop_local values may still receive after the last task has ended.
bool event_loop::is_idle(end_stage stage) const noexcept {
  if (!has_nothing_to_do()) return false;
  return stage == end_stage::tasks ? backend_->in_flight() <= backend_->endless()
                                   : values_ == nullptr && backend_->in_flight() == 0;
}

// A loop driven together with this one may still have code that releases them.
void event_loop::stop_for_what_outlives_it() const noexcept {
  if (!has_nothing_to_do() || guest_ != nullptr || backend_->endless() == 0) return;
  if (backend_->in_flight() > backend_->endless()) return;
  misuse(
      "a loop cannot end, because a stream, a listener or a datagram socket that still receives outlives its tasks; "
      "destroy or close it before the task that run() runs ends");
}

// Idle twice in a row: the backend may hold completions that it has counted but not handed out.
void event_loop::settle(end_stage stage) noexcept {
  do {
    for (bool idle = false; !idle;) {
      if (stage == end_stage::resources) {
        loop_values::destroy_all(values_);  // again in each turn: what still runs may use a loop_local
        stop_for_what_outlives_it();
      }
      idle = is_idle(stage);
      turn(!idle);
      idle = idle && is_idle(stage);
    }
  } while (group_ != nullptr && !group_->is_over(*this, stage) && !group_->wait_for_others(*this, stage));
}

void event_loop::shutdown() noexcept {
  if (shut_down_ || is_of_parent()) return;
  if (current_ != this) stop_on_other_thread("shutdown");
  if (running_task_ != nullptr)
    misuse(
        "event_loop::shutdown or runtime::stop was called in a task of the loop that it ends, and would wait for "
        "itself: end the loop where it is driven, after the task");
  shut_down_ = true;
  if (group_ != nullptr) group_->request_end();
  root_.cancel();
  settle(end_stage::tasks);
  settle(end_stage::resources);
  group_ = nullptr;  // it may end before this object
  stops_.leave();
}

}  // namespace gyre
