// tests/support/time_limit.hpp: the time limit of the test that runs.
#pragma once

namespace gyre_test {

/// Gives the test that runs its whole time again: it has got ahead.
void restart_time_limit();

}  // namespace gyre_test
