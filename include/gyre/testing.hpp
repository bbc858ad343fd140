// gyre/testing.hpp: tools for tests of programs that use gyre. No other header of the library includes it.
//
//   run_test               runs a test body on virtual time and ends every hang
//   cancel_at_every_await  cancels a scenario at each of its steps, and checks for damage
//   http_test_client       calls an HTTP application without a socket
//   http_mock_server       answers HTTP requests as a test says, without a socket
//   watchdog               reports where a task hangs, and ends it
//
// Virtual time is an option of every loop: run(task, {.loop = {.virtual_time = true}}).
#pragma once

#include <gyre/testing/cancel_at_every_await.hpp>
#include <gyre/testing/http_mock_server.hpp>
#include <gyre/testing/http_test_client.hpp>
#include <gyre/testing/run_test.hpp>
#include <gyre/testing/watchdog.hpp>
