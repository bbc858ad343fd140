// src/tasks/race.cpp: the reaction of a race to the end of a child.
#include <gyre/loop/event_loop.hpp>
#include <gyre/tasks/race.hpp>

#include <stdexcept>

namespace gyre {

void racing::ended(child_tasks& children, task_state& child) noexcept {
  auto& self = static_cast<racing&>(children);
  const bool failed = static_cast<bool>(child.failure());
  const bool cancelled = failed && child.was_cancelled();
  if (self.winner_ == nullptr && !cancelled) {
    self.winner_ = &child;
    self.scope().cancel();
  } else if (failed && !cancelled) {
    event_loop::report({child.failure(), child.name(), child.spawned_at});
  }
}

task_state& racing::finish() {
  close();
  if (winner_ == nullptr) throw_cancelled();
  return *winner_;
}

}  // namespace gyre
