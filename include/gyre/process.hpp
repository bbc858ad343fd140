// gyre/process.hpp: child processes.
//
// Must not depend on: sockets.
//
//   process          a running child: its streams, its exit, signals to it
//   process_options  the options for starting one
//   process_result   its output and status; process_timed_out contains one
//   run_process      starts one, writes its input, and collects its output
#pragma once

#include <gyre/process/exit_status.hpp>
#include <gyre/process/process.hpp>
#include <gyre/process/process_options.hpp>
#include <gyre/process/process_result.hpp>
#include <gyre/process/run_process.hpp>
