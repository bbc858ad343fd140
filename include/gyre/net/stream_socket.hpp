// gyre/net/stream_socket.hpp: the state of a connected socket, behind the movable stream.
// For authors of stream operations.
#pragma once

#include <gyre/attributes.hpp>
#include <gyre/coro/frame_pool.hpp>
#include <gyre/io/receive_queue.hpp>
#include <gyre/loop/operation.hpp>
#include <gyre/net/address.hpp>

#include <cstddef>
#include <cstdint>
#include <string>

namespace gyre {

class socket_write_base;
class socket_close_op;

/// Who wants to hear that a stream has ended while nobody reads from it: its peer has left. Called on the loop, once.
struct end_watch {
  void (*ended)(end_watch&) noexcept = nullptr;
};

/// One connected socket: its descriptor, what has been received and not read, who waits to read, who waits to write.
///
/// Lifetime: freed when its stream has let go and nothing is in flight any more.
struct GYRE_API stream_socket : private io::descriptor {
  /// Takes over a connected descriptor, which is non-blocking and is closed when that fails. Errors: std::bad_alloc.
  static stream_socket& create(int fd);
  /// Takes over any connected descriptor, which is closed when that fails. Errors: io_error.
  static stream_socket& adopt(int fd);

  /// Stands in for the socket of a stream that is closed or was moved from. It looks as if a reader waited and a write had been
  /// cut off, so that each operation leaves its fast path as it would for these, and then stops the program with a sentence.
  /// Nothing ever writes to it.
  static stream_socket closed;
  [[nodiscard]] bool is_closed() const noexcept { return this == &closed; }
  /// Stops the program when this is `closed`. For functions that are no operations.
  void expect_open(const char* function) const noexcept {
    if (is_closed()) [[unlikely]]
      misuse_of_closed(function, kind);
  }
  [[nodiscard]] bool is_of_running_loop() const noexcept {
    return received.belongs_to(event_loop::current().backend());
  }
  /// Stops the program when this socket belongs to another loop than the running one. For the path of operations that wait.
  void expect_own_loop(const char* operation) const noexcept {
    if (!is_of_running_loop()) [[unlikely]]
      stop_on_other_loop(operation, kind);
  }
  static constexpr const char* kind = "a TCP or Unix stream";

  static void* operator new(std::size_t size) { return frame_pool::allocate(size); }
  static void operator delete(void* memory, std::size_t size) noexcept { frame_pool::deallocate(memory, size); }

  /// The stream is gone: closes the descriptor, at once or when the kernel has let go of it, and frees this.
  void abandon() noexcept;
  /// Ends every operation that waits on this socket with operation_canceled.
  void cancel_all() noexcept;
  /// Lets a waiting close() go on when nothing is in flight any more.
  void note_quiet() noexcept;
  [[nodiscard]] bool quiet() const noexcept { return in_flight == 0 && !received.listed; }
  /// Closes the descriptor and frees this.
  void release() noexcept;

  [[nodiscard]] io::descriptor& descriptor() noexcept { return *this; }
  /// The socket that a request concerns.
  [[nodiscard]] static stream_socket& of(const io::request& r) noexcept {
    return static_cast<stream_socket&>(*r.target);
  }

  /// Tells `watch`, from the loop and never in this call, when the stream ends and no reader waits for it; what has arrived
  /// before the end stays to be read. Null ends it. Lifetime: `watch` lives until it was told, or replaced.
  void watch_end(end_watch* watch) noexcept;

  // ---- Reading. Bytes leave the kernel by one way at a time, or they would be delivered out of order: by the multishot
  // `received`, by a request of the waiting reader's own, or by an attempt, when neither is in flight. These four decide.

  /// How the waiting reader gets its bytes.
  enum class reading : std::uint8_t {
    leases,     // it is a socket_receive_op and takes a buffer of `received`
    copies,     // it is a socket_read_op and copies out of `received`, perhaps from more than one buffer
    directly,   // a request of its own is in flight, or has ended and is about to say so: `received` stays idle
    cancelled,  // it waits no longer, and is about to say so
  };
  /// `op` waits for what `received` brings. Stops the program when another reader waits, or on another loop.
  void wait_for_received(operation_base& op, reading way) noexcept;
  /// `op` waits for `call`, which this submits; `received` is not armed. Stops the program when another reader waits, or on
  /// another loop.
  void read_directly(operation_base& op, io::request& call) noexcept;
  /// `op` was cancelled. False: it does not wait for `received`. It keeps its place until `reader_ended`, so that nobody
  /// reads what comes behind the bytes that it may have to put back.
  [[nodiscard]] bool stop_waiting(const operation_base& op) noexcept;
  /// The waiting reader has its result, and is about to be told.
  void reader_ended() noexcept;
  /// A reader has taken something out of `received`, or past it, and may never come back: who watches for the end watches on.
  void reader_took() noexcept {
    if (watcher != nullptr) [[unlikely]]
      watch_on();
  }
  [[noreturn]] void stop_for_two_readers(const char* operation) const noexcept;

  /// For errors: the peer's address, or the path that either end of a Unix socket is bound to.
  [[nodiscard]] std::string peer_name() const;

  /// Bytes that the peer has acknowledged since the connection began. Of a Unix socket, and before Linux 4.2: those of the write
  /// that is under way which the kernel has taken. A system call: for time limits. See tcpi_bytes_acked of tcp(7).
  [[nodiscard]] std::uint64_t taken_by_peer() const noexcept;

  /// The writer that may be in flight; the others wait behind it.
  [[nodiscard]] socket_write_base* first_writer() const noexcept;
  void append_writer(socket_write_base& op) noexcept;
  void remove_writer(socket_write_base& op) noexcept;

  // First, so that they lie in what the flags of the descriptor leave free of their word.
  reading how = reading::leases;  // of the waiting reader
  bool write_cut = false;         // a write_all ended in the middle
  bool closing = false;

  using io::descriptor::fd;
  io::receive_queue received;
  operation_base* waiting_reader = nullptr;  // who waits for bytes
  socket_write_base* last_writer = nullptr;  // its successor is the first: a ring
  socket_close_op* closer = nullptr;
  end_watch* watcher = nullptr;

  // In the list of connections of the server that accepted it.
  stream_socket* next_peer = nullptr;
  stream_socket** peer_link = nullptr;

  address peer;  // empty when it is no internet address

 private:
  explicit stream_socket(int number) noexcept;
  explicit constexpr stream_socket(operation_base& nobody) noexcept : write_cut(true), waiting_reader(&nobody) {}
  ~stream_socket() = default;
  static void received_something(io::completion& c) noexcept;
  void hand_to_reader() noexcept;
  void tell_watcher() noexcept;
  void watch_on() noexcept;
};

}  // namespace gyre
