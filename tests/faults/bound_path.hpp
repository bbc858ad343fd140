// tests/faults/bound_path.hpp: a Unix socket whose binding may fail.
#pragma once

#include "tests/faults/injector.hpp"

#include <unistd.h>

#include <exception>
#include <string>

namespace gyre_test {

/// `bind` binds sockets to `path`, and something may fail. No file may be left there afterwards.
template <class Bind>
void binding_leaves_nothing_at(const std::string& path, fault_injection& f, Bind bind) {
  std::exception_ptr failure;
  try {
    f.arm();
    bind();
  } catch (...) {
    failure = std::current_exception();
  }
  f.disarm();
  EXPECT_NE(::access(path.c_str(), F_OK), 0);
  if (failure) std::rethrow_exception(failure);
}

}  // namespace gyre_test
