// gyre/coro.hpp: coroutines, the tasks that await them, and their cancellation.
//
// Must not depend on: the kernel, a loop, time. Standard library only.
//
//   task             a coroutine that starts when it is awaited and returns one result
//   generator        a range whose elements are computed one after the other; async_generator
//   cancelled        the exception that an await throws inside a cancelled scope
//   cancel_scope     a region of a task that can be cancelled
//   reference_to     a reference that standard containers can hold: the result of a task<T&> there
//   call_stack       the chain of awaiting coroutines, and the place of each await
//   exception_group  several exceptions that happened together
//
// Included alone, because it needs <memory_resource>:
//   frame_resource   coroutines whose frames come from a memory resource of the program
//
// For authors of operations:
//   frame_pool       recycles the memory of coroutine frames
//   nested_frames    destroys frames that own each other
//   converted        constructs a value through an implicit conversion
//   held_value       the same in a std::optional
//   context          the data that every frame records
//   owned            a pointer or handle with one owner
//   scope_exit       runs a function at the end of a block
#pragma once

#include <gyre/coro/async_generator.hpp>
#include <gyre/coro/call_stack.hpp>
#include <gyre/coro/cancel_scope.hpp>
#include <gyre/coro/cancelled.hpp>
#include <gyre/coro/context.hpp>
#include <gyre/coro/converted.hpp>
#include <gyre/coro/exception_group.hpp>
#include <gyre/coro/frame_pool.hpp>
#include <gyre/coro/generator.hpp>
#include <gyre/coro/held_value.hpp>
#include <gyre/coro/nested_frames.hpp>
#include <gyre/coro/owned.hpp>
#include <gyre/coro/reference_to.hpp>
#include <gyre/coro/scope_exit.hpp>
#include <gyre/coro/task.hpp>
