// gyre/tasks.hpp: structured concurrency.
//
// Must not depend on: sockets, files.
//
//   spawn        starts a task that runs concurrently with the spawning one
//   task_handle  a running task, seen from outside
//   current_task a running task, seen from inside
//   task_group   tasks that live and fail together
//   gather       all results of several awaitables
//   race         the first result of several awaitables
//   timeout      a time limit for any code
//   for_each_concurrent  runs the same for each element of a range, a limited number at a time
//   first_n      the first few successes of many
//   wait         waits for some of several running tasks; as_completed
//   shared_task  a task whose result several tasks await
//   async_scope  background tasks that belong to an object
//   as_expected  returns the error of a task as a value; as_result returns any exception
//   shield       protects code from a cancel from outside
//   to_thread    runs a blocking function on a thread
//   thread_pool  the program's own threads for to_thread
//   via          runs a function on a foreign executor
//   run_coroutine_threadsafe  starts a task from another thread and waits for it; blocking_run
//   on           runs a function on another loop; spawn_on
//   for_each_loop  runs a function on every loop of the runtime
//   from_callback  awaits a callback
//   spawn_then   starts a task and passes its result to a callback
//   as_task      wraps any awaitable in a task
//
// For authors of operations:
//   task_state   a spawned task
#pragma once

#include <gyre/tasks/as_expected.hpp>
#include <gyre/tasks/as_result.hpp>
#include <gyre/tasks/as_task.hpp>
#include <gyre/tasks/async_scope.hpp>
#include <gyre/tasks/current_task.hpp>
#include <gyre/tasks/first_n.hpp>
#include <gyre/tasks/for_each_concurrent.hpp>
#include <gyre/tasks/for_each_loop.hpp>
#include <gyre/tasks/from_callback.hpp>
#include <gyre/tasks/gather.hpp>
#include <gyre/tasks/on.hpp>
#include <gyre/tasks/race.hpp>
#include <gyre/tasks/run_coroutine_threadsafe.hpp>
#include <gyre/tasks/shared_task.hpp>
#include <gyre/tasks/shield.hpp>
#include <gyre/tasks/spawn.hpp>
#include <gyre/tasks/spawn_then.hpp>
#include <gyre/tasks/task_group.hpp>
#include <gyre/tasks/task_handle.hpp>
#include <gyre/tasks/task_state.hpp>
#include <gyre/tasks/thread_pool.hpp>
#include <gyre/tasks/timeout.hpp>
#include <gyre/tasks/to_thread.hpp>
#include <gyre/tasks/via.hpp>
#include <gyre/tasks/wait.hpp>
