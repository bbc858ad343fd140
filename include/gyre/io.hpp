// gyre/io.hpp: I/O operations as data, and the backends that perform them.
//
// Must not depend on: coroutines. A request completes by calling a function.
//
//   backend_choice  the backend that a process uses, and the reason
//   buffer_lease    received bytes in a borrowed buffer
//   blocking_pool   threads for calls that have no non-blocking form
//   owned_fd        closes a descriptor
//   printable       text from outside for terminals and logs; messages on standard error
//   pipe            both ends of a new pipe
//   io_error        the exception that a failed operation throws
//
// For authors of operations:
//   request         one I/O operation as data
//   file_request    the same for files and paths
//   message_multishot  datagrams received into buffers of the pool
//   raw_request     any io_uring operation, filled in by hand
//   completion      an entry that a loop calls once
//   backend         performs requests
//   descriptor      an open file descriptor as the backends see it
//   buffer_pool     the receive buffers that all sockets of a loop share
//   receive_queue   the data that a multishot receive has delivered
//
// Included one by one: kernel, the calls of the operating system, which a backend can replace; backend_factory; the
// clocks; missed_end; random_bytes; file_bytes; line_output.
#pragma once

#include <gyre/io/backend.hpp>
#include <gyre/io/backend_choice.hpp>
#include <gyre/io/blocking_pool.hpp>
#include <gyre/io/buffer_lease.hpp>
#include <gyre/io/buffer_pool.hpp>
#include <gyre/io/completion.hpp>
#include <gyre/io/descriptor.hpp>
#include <gyre/io/file_request.hpp>
#include <gyre/io/io_error.hpp>
#include <gyre/io/message_multishot.hpp>
#include <gyre/io/owned_fd.hpp>
#include <gyre/io/pipe.hpp>
#include <gyre/io/printable.hpp>
#include <gyre/io/raw_request.hpp>
#include <gyre/io/receive_queue.hpp>
#include <gyre/io/request.hpp>
