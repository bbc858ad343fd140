// gyre/sync.hpp: tasks that wait for each other. No I/O.
//
// May not know: sockets, files, task groups.
//
//   mutex, shared_mutex   one task at a time; many readers or one writer
//   event, latch          something has happened; a number of things have
//   condition_variable    something may have changed, with a mutex
//   counting_semaphore    at most so many at a time; bounded_semaphore
//   barrier               tasks that wait for each other, again and again
//   queue                 items from producers to consumers; lifo_queue, priority_queue, unbounded_…
//   channel               a stream of items, which ends; rendezvous
//   oneshot               one value from one task to another
//   promise, future       one value that many may wait for
//   broadcast             every item to every subscriber
//   watch                 the latest state of a value
//   shared_channel        a channel between loops and threads
//   sync_error            why waiting came to nothing
//   wait_queue            who waits, in order (for authors)
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
