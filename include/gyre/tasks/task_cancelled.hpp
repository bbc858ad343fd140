// gyre/tasks/task_cancelled.hpp: the end of an awaited task that was cancelled.
#pragma once

#include <gyre/attributes.hpp>

#include <exception>

namespace gyre {

/// Thrown where a task is awaited, when that task was cancelled and not the one that awaits it.
class GYRE_API task_cancelled : public std::exception {
 public:
  [[nodiscard]] const char* what() const noexcept override;
};

}  // namespace gyre
