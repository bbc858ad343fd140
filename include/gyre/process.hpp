// gyre/process.hpp: child processes.
//
// May not know: sockets.
//
//   process          a running child: its streams, its end, signals to it
//   process_options  how to start one
//   process_result   its output and status; process_timed_out carries one
//   run_process      starts one, feeds it, and collects what it says
#pragma once

#include <gyre/process/exit_status.hpp>
#include <gyre/process/process.hpp>
#include <gyre/process/process_options.hpp>
#include <gyre/process/process_result.hpp>
#include <gyre/process/run_process.hpp>
