// gyre/testing.hpp: what tests of programs that use gyre need. Nothing in the library includes it.
//
//   run_test               a test body on virtual time, with an end to every hang
//   cancel_at_every_await  cancels a scenario at each of its steps, and looks for damage
//   http_test_client       calls an HTTP application without a socket
//   watchdog               says where a task hangs, and ends it
//
// Virtual time is an option of every loop: run(task, {.loop = {.virtual_time = true}}).
#pragma once

#include <gyre/testing/cancel_at_every_await.hpp>
#include <gyre/testing/http_test_client.hpp>
#include <gyre/testing/run_test.hpp>
#include <gyre/testing/watchdog.hpp>
