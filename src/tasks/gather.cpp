// src/tasks/gather.cpp: the reaction of a gather to the end of a child.
#include <gyre/tasks/gather.hpp>

namespace gyre {

void gathering::ended(child_tasks& children, task_state& child) noexcept {
  if (!child.failure()) return;
  auto& self = static_cast<gathering&>(children);
  if (child.was_cancelled())
    self.cancelled_ = true;
  else
    collect(self.failures_, child.failure());
  self.scope().cancel();
}

void gathering::finish() {
  close();
  failures_.rethrow();
  if (cancelled_) throw_cancelled();
}

}  // namespace gyre
