// gyre/runtime.hpp: a program: run, run_main, signals.
//
// Must not depend on: sockets, protocols.
//
//   run         runs a main task on its own loop
//   signal_set  awaits signals
#pragma once

#include <gyre/runtime/run.hpp>
#include <gyre/runtime/signal_set.hpp>
