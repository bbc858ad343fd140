// gyre/tasks/task_cancelled.hpp: the exception of an await whose task was cancelled.
#pragma once

#include <gyre/attributes.hpp>

#include <exception>

namespace gyre {

/// Thrown by the await of a task when that task was cancelled, not the awaiting one.
class GYRE_API task_cancelled : public std::exception {
 public:
  [[nodiscard]] const char* what() const noexcept override;
};

}  // namespace gyre
