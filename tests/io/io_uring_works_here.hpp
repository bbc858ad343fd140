// tests/io/io_uring_works_here.hpp: whether a new process of this machine gets io_uring.
#pragma once

#include <gyre/io/backend_choice.hpp>

#include "tests/support/denied_call.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

namespace gyre_test {

/// Asks a child, because the choice is made once per process.
inline bool io_uring_works_here() {
  const child_outcome child = in_child_process([] {
    ::unsetenv("GYRE_BACKEND");
    gyre::io::backend_choice choice;
    const gyre::io::backend_owner made = gyre::io::make_backend({}, choice);
    return std::string(made ? made->name() : "");
  });
  EXPECT_TRUE(child.ended) << child.signal;
  return child.text == "io_uring";
}

}  // namespace gyre_test
