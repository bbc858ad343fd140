// gyre/net/tcp_socket.hpp: the state of a connected TCP socket, behind the movable tcp_stream.
// For authors of stream operations.
#pragma once

#include <gyre/attributes.hpp>
#include <gyre/coro/frame_pool.hpp>
#include <gyre/io/receive_queue.hpp>
#include <gyre/loop/operation.hpp>
#include <gyre/net/address.hpp>

#include <cstddef>
#include <system_error>

namespace gyre {

struct stream_writer;
class tcp_close_op;

/// One connected socket: its descriptor, what has been received and not read, who waits to read, who waits to write.
///
/// Lifetime: freed when its stream has let go and nothing is in flight any more.
struct GYRE_API tcp_socket {
  /// Takes over a connected descriptor.
  static tcp_socket& create(int fd);

  static void* operator new(std::size_t size) { return frame_pool::allocate(size); }
  static void operator delete(void* memory, std::size_t size) noexcept { frame_pool::deallocate(memory, size); }

  /// The stream is gone: closes the descriptor, at once or when the kernel has let go of it, and frees this.
  void abandon() noexcept;
  /// Ends every operation that waits on this socket with operation_canceled.
  void cancel_all() noexcept;
  /// Lets a waiting close() go on when nothing is in flight any more.
  void note_quiet() noexcept;
  [[nodiscard]] bool quiet() const noexcept { return descriptor.in_flight == 0 && !received.listed; }
  /// Closes the descriptor and frees this.
  void release() noexcept;

  struct receiving : io::receive_queue {
    using io::receive_queue::receive_queue;
    tcp_socket* socket = nullptr;
  };

  io::descriptor descriptor;
  receiving received;

  operation_base* reader = nullptr;                            // who waits for bytes
  bool (*reader_advance)(operation_base&) noexcept = nullptr;  // takes what came; true: it is content

  stream_writer* first_writer = nullptr;  // the only one that may be in flight
  stream_writer* last_writer = nullptr;
  tcp_close_op* closer = nullptr;

  // In the list of connections of the server that accepted it.
  tcp_socket* next_peer = nullptr;
  tcp_socket** peer_link = nullptr;

  address peer;
  bool write_cut = false;  // a write_all ended in the middle
  bool closing = false;

 private:
  explicit tcp_socket(int fd) noexcept;
  ~tcp_socket() = default;
  static void received_something(io::completion& c) noexcept;
};

/// A write that waits in the queue of its socket. Writers are served one after the other, each to its end.
struct stream_writer : io::request {
  tcp_socket* socket = nullptr;
  void (*prepare)(stream_writer&) noexcept = nullptr;  // points the request at what is left; null: shutdown_write
  stream_writer* next_writer = nullptr;
  std::size_t total = 0;
  std::size_t done = 0;
  std::error_code failure;
  bool partial_is_enough = false;
  bool queued = false;
  bool stopped = false;  // cancelled: does not go on after what is in flight
};

}  // namespace gyre
