// src/tasks/async_scope.cpp: reports failures of background tasks.
#include <gyre/tasks/async_scope.hpp>

namespace gyre {

void async_scope::ended(child_tasks& /*children*/, task_state& child) noexcept {
  if (child.failure() && !child.was_cancelled()) event_loop::report({child.failure(), child.name(), child.spawned_at});
}

}  // namespace gyre
