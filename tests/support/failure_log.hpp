// tests/support/failure_log.hpp: the unobserved failures of tasks.
#pragma once

#include <gyre/loop/event_loop.hpp>

#include <exception>
#include <string>
#include <vector>

namespace gyre_test {

/// Collects the failures reported to the loop's exception handler.
struct failure_log {
  struct entry {
    std::string name;
    std::string what;
    unsigned line;
  };
  std::vector<entry> entries;

  failure_log() { gyre::event_loop::current().set_exception_handler(&add, this); }

  static void add(const gyre::background_failure& failure, void* self) noexcept {
    std::string what;
    try {
      std::rethrow_exception(failure.exception);
    } catch (const std::exception& error) {
      what = error.what();
    } catch (...) {
      what = "?";
    }
    static_cast<failure_log*>(self)->entries.push_back(
        {std::string(failure.task_name), what, static_cast<unsigned>(failure.spawned_at.line())});
  }
};

}  // namespace gyre_test
