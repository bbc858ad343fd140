// gyre/sync.hpp: synchronization of tasks with each other. No I/O.
//
// Must not depend on: sockets, files, task groups.
//
//   mutex, shared_mutex   exclusive access; many readers or one writer
//   event, latch          a flag to wait for; a countdown to wait for
//   condition_variable    waits for a change under a mutex
//   counting_semaphore    a limited number of permits; bounded_semaphore
//   barrier               a reusable meeting point of several tasks
//   queue                 items from producers to consumers; lifo_queue, priority_queue, unbounded_…
//   channel               a stream of items that can be closed; rendezvous
//   oneshot               one value from one task to another
//   promise, future       one value that many tasks may wait for
//   broadcast             delivers every item to every subscriber
//   watch                 the latest state of a value
//   shared_channel        a channel between loops and threads
//   sync_error            the errors of waits
//
// For authors of operations:
//   wait_queue            the waiting tasks in order
//
// Everything without shared_ in its name belongs to one loop and needs no lock or atomic operation.
#pragma once

#include <gyre/sync/barrier.hpp>
#include <gyre/sync/broadcast.hpp>
#include <gyre/sync/channel.hpp>
#include <gyre/sync/condition_variable.hpp>
#include <gyre/sync/event.hpp>
#include <gyre/sync/future.hpp>
#include <gyre/sync/latch.hpp>
#include <gyre/sync/mutex.hpp>
#include <gyre/sync/oneshot.hpp>
#include <gyre/sync/queue.hpp>
#include <gyre/sync/semaphore.hpp>
#include <gyre/sync/shared_channel.hpp>
#include <gyre/sync/shared_mutex.hpp>
#include <gyre/sync/watch.hpp>
