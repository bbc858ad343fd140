// gyre/testing.hpp: what tests of programs that use gyre need. Nothing in the library includes it.
//
//   cancel_at_every_await  cancels a scenario at each of its steps, and looks for damage
//
// Virtual time is an option of every loop: run(task, {.loop = {.virtual_time = true}}).
#pragma once

#include <gyre/testing/cancel_at_every_await.hpp>
