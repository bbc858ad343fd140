// gyre/tasks.hpp: structured concurrency.
//
// May not know: sockets, files.
//
//   spawn        starts a task beside the one that spawns it
//   task_handle  a running task, seen from outside
//   current_task a running task, seen from inside
//   task_group   tasks that live and fail together
//   gather       all results of several awaitables
//   race         the first result of several awaitables
//   timeout      a limit on the time that any code may take
//   for_each_concurrent  the same for each element of a range, some at a time
//   some         the first few successes of many
//   wait         waiting for some of several running tasks; as_completed
//   shared_task  a task whose result several tasks want
//   async_scope  background tasks that belong to an object
//   as_expected  the error of a task as a value; as_result: every exception as a value
//   shield       code that a cancel from outside does not reach
//   to_thread    a function that blocks, run on a thread
//   thread_pool  threads of the program's own for that
//   run_coroutine_threadsafe  a task started and waited for by another thread; blocking_run
//   from_callback  awaits what calls back
//   spawn_then   a task for code that lives by callbacks
//   as_task      an awaitable of any kind as a task
//   task_state   a spawned task (for authors)
#pragma once

#include <gyre/tasks/as_expected.hpp>
#include <gyre/tasks/as_result.hpp>
#include <gyre/tasks/as_task.hpp>
#include <gyre/tasks/async_scope.hpp>
#include <gyre/tasks/current_task.hpp>
#include <gyre/tasks/for_each_concurrent.hpp>
#include <gyre/tasks/from_callback.hpp>
#include <gyre/tasks/gather.hpp>
#include <gyre/tasks/race.hpp>
#include <gyre/tasks/run_coroutine_threadsafe.hpp>
#include <gyre/tasks/shared_task.hpp>
#include <gyre/tasks/shield.hpp>
#include <gyre/tasks/some.hpp>
#include <gyre/tasks/spawn.hpp>
#include <gyre/tasks/spawn_then.hpp>
#include <gyre/tasks/task_group.hpp>
#include <gyre/tasks/task_handle.hpp>
#include <gyre/tasks/task_state.hpp>
#include <gyre/tasks/thread_pool.hpp>
#include <gyre/tasks/timeout.hpp>
#include <gyre/tasks/to_thread.hpp>
#include <gyre/tasks/wait.hpp>
