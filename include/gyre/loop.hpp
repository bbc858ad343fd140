// gyre/loop.hpp: the event loop, timers, and operations that can be awaited.
//
// Must not depend on: the combination of tasks.
//
//   event_loop    runs the tasks, timers and I/O of one thread
//   guest_loop    the loop of another library, driven by an event_loop
//   readiness     waits until any descriptor is readable or writable
//   raw_operation any io_uring operation, filled in by hand
//   as_expected   returns an operation's error as a value
//   chain         runs one operation after another: a && b
//   timeout_op    a time limit for one operation
//   sleep         waits for a time or a duration
//   stop_request  asks the program to stop; waits for such a request
//   yield         yields to the other ready tasks
//   waiting_tasks prints the tasks of a loop
//   interval      a periodic timer
//   task_local    values that spawned tasks inherit
//   loop_local    one value per loop
//   deadline      durations and points of the loop's clock
//
// For authors of operations:
//   operation     the protocol of every awaitable leaf
//   call_member   a member function as the function pointer of a base
//   io_operation  awaits one request
//   loop_group    the loops of one runtime
//   stop_observer notifies servers of a stop request
//   timer_wheel   any number of deadlines
#pragma once

#include <gyre/loop/as_expected.hpp>
#include <gyre/loop/call_member.hpp>
#include <gyre/loop/chain.hpp>
#include <gyre/loop/deadline.hpp>
#include <gyre/loop/event_loop.hpp>
#include <gyre/loop/guest_loop.hpp>
#include <gyre/loop/interval.hpp>
#include <gyre/loop/io_operation.hpp>
#include <gyre/loop/loop_group.hpp>
#include <gyre/loop/loop_local.hpp>
#include <gyre/loop/operation.hpp>
#include <gyre/loop/raw_operation.hpp>
#include <gyre/loop/readiness.hpp>
#include <gyre/loop/sleep.hpp>
#include <gyre/loop/stop_observer.hpp>
#include <gyre/loop/stop_request.hpp>
#include <gyre/loop/task_local.hpp>
#include <gyre/loop/timeout_op.hpp>
#include <gyre/loop/timer_wheel.hpp>
#include <gyre/loop/waiting_tasks.hpp>
#include <gyre/loop/yield.hpp>
