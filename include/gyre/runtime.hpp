// gyre/runtime.hpp: a program: run, run_main, signals, cores.
//
// Must not depend on: sockets, protocols.
//
//   run           runs a main task on its own loop, with further loops if requested
//   runtime       several loops, each on its own thread
//   signal_set    awaits signals
//   usable_cores  how many loops this process should run
#pragma once

#include <gyre/runtime/run.hpp>
#include <gyre/runtime/runtime.hpp>
#include <gyre/runtime/signal_set.hpp>
#include <gyre/runtime/usable_cores.hpp>
