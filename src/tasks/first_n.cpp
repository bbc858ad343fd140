// src/tasks/first_n.cpp: ends when enough children have succeeded, or too many have failed.
#include <gyre/tasks/first_n.hpp>

namespace gyre {

void choosing::ended(child_tasks& children, task_state& child) noexcept {
  auto& self = static_cast<choosing&>(children);
  if (!child.failure()) {
    if (++self.succeeded_ == self.wanted_) self.scope().cancel();
  } else if (!child.was_cancelled()) {
    collect(self.failures_, child.failure());
    if (self.may_fail_-- == 0) self.scope().cancel();
  }
}

void choosing::finish() {
  close();
  if (succeeded_ >= wanted_) return;
  failures_.rethrow();
  throw_cancelled();
}

}  // namespace gyre
