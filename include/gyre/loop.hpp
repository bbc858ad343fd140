// gyre/loop.hpp: the event loop: what is ready, what is due, and awaiting an operation.
//
// May not know: how tasks are combined.
//
//   event_loop    the engine of one thread
//   guest_loop    the loop of another library, driven by it
//   operation     the protocol of every awaitable leaf (for authors)
//   io_operation  awaiting one request (for authors)
//   readiness     waiting for any descriptor
//   raw_operation any operation of the ring, filled by hand
//   as_expected   an operation's error as a value
//   chain         a && b
//   timeout_op    a time limit for one operation
//   sleep         waiting for time to pass
//   stop_request  asks the program to stop; waits until somebody has asked
//   stop_observer how a server hears of that (for authors)
//   yield         lets the other ready tasks run
//   waiting_tasks a list of the tasks of a loop, for people
//   interval      something that happens again and again
//   task_local    values that flow into spawned tasks
//   timer_wheel   any number of deadlines
//   deadline      durations and points of the loop's clock
#pragma once

#include <gyre/loop/as_expected.hpp>
#include <gyre/loop/chain.hpp>
#include <gyre/loop/deadline.hpp>
#include <gyre/loop/event_loop.hpp>
#include <gyre/loop/guest_loop.hpp>
#include <gyre/loop/interval.hpp>
#include <gyre/loop/io_operation.hpp>
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
