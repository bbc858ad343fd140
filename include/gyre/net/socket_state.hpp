// gyre/net/socket_state.hpp: the state of a connected socket; the movable stream points to it.
// For authors of operations.
#pragma once

#include <gyre/attributes.hpp>
#include <gyre/coro/frame_pool.hpp>
#include <gyre/io/receive_queue.hpp>
#include <gyre/loop/operation.hpp>
#include <gyre/net/address.hpp>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace gyre {

class socket_write_base;
class socket_close_op;

/// Notified when a stream ends while nobody reads from it, because its peer has left. Called on the loop, once.
struct end_watch {
  void (*ended)(end_watch&) noexcept = nullptr;
};

/// One connected socket: its descriptor, the bytes received but not read, and the tasks that wait to read and to write.
///
/// Lifetime: freed when its stream is gone and nothing is in flight any more.
struct GYRE_API socket_state : private io::descriptor {
  /// Takes over a connected, non-blocking descriptor. Closes it on failure. Errors: std::bad_alloc.
  static socket_state& create(int fd);
  /// Takes over any connected descriptor. Closes it on failure. Errors: io_error.
  static socket_state& adopt(int fd);

  /// The socket of every stream that is closed or was moved from. It looks as if a reader waited and a write had been
  /// cut off. So each operation leaves its fast path, as it does in these cases, and then stops the program with a
  /// message. Nothing ever writes to it.
  static socket_state closed;
  [[nodiscard]] bool is_closed() const noexcept { return this == &closed; }
  /// Stops the program when this is `closed`. For functions that are not operations.
  void expect_open(const char* function) const noexcept {
    if (is_closed()) [[unlikely]]
      misuse_of_closed(function, kind);
  }
  [[nodiscard]] bool is_of_running_loop() const noexcept {
    return received.belongs_to(event_loop::current().backend());
  }
  /// Stops the program when this socket belongs to another loop than the running one. For operations that have to wait.
  void expect_own_loop(const char* operation) const noexcept {
    if (!is_of_running_loop()) [[unlikely]]
      stop_on_other_loop(operation, kind);
  }
  static constexpr const char* kind = "a TCP or Unix stream";

  static void* operator new(std::size_t size) { return frame_pool::allocate(size); }
  static void operator delete(void* memory, std::size_t size) noexcept { frame_pool::deallocate(memory, size); }

  /// The stream is gone: closes the descriptor, at once or when the kernel has released it, and frees this. Resets the
  /// connection when its task is cut off in the middle.
  void abandon() noexcept;
  /// Ends every operation that waits on this socket with operation_canceled.
  void cancel_all() noexcept {
    cancel_reader();
    cancel_writers();
  }
  void cancel_reader() noexcept;
  void cancel_writers() noexcept;
  /// Resumes a waiting close() when nothing is in flight any more.
  void note_quiet() noexcept;
  [[nodiscard]] bool quiet() const noexcept { return in_flight == 0 && !received.listed; }
  /// Closes the descriptor and frees this.
  void release() noexcept;

  [[nodiscard]] io::descriptor& descriptor() noexcept { return *this; }
  /// The socket that a request belongs to.
  [[nodiscard]] static socket_state& of(const io::request& r) noexcept { return static_cast<socket_state&>(*r.target); }

  /// Notifies `watch` when the stream ends and no reader waits for it. The call comes from the loop, never from within
  /// this function. Bytes that arrived before the end can still be read. Null removes the watch. Lifetime: `watch`
  /// lives until it was notified or replaced.
  void watch_end(end_watch* watch) noexcept;
  /// Nothing is received for the watch until resume_watch(). For a reader of bulk, whose bytes must stay in the kernel
  /// until it takes them. Idempotent, both.
  void pause_watch() noexcept { watch_paused = true; }
  void resume_watch() noexcept {
    if (!watch_paused) return;
    watch_paused = false;
    reader_took();
  }

  // ---- Reading. Bytes leave the kernel one way at a time, or they would be delivered out of order: through the
  // multishot `received`, through a separate request of the waiting reader, or, when neither is in flight, through an
  // attempt. These five decide.

  /// How the waiting reader gets its bytes.
  enum class reading : std::uint8_t {
    leases,  // queued: a socket_receive_op, which takes a buffer of `received`
    next,    // queued: a socket_next_op, which takes nothing
    copies,  // queued: a socket_read_op, which copies out of `received`, perhaps from more than one buffer
    // Requested: its own request is in flight, or has ended and is about to report that. `received` stays idle.
    directly,
    // A socket_bulk_receive_op waits until `received` is idle, and then makes a request of its own.
    stopping,
    cancelled,  // no longer waits, and is about to report that
  };
  /// `op` waits for `received`. Stops the program when another reader waits, or on another loop.
  void wait_for_received(operation_base& op, reading way) noexcept;
  /// `op` waits until `received`, which this stops, has stopped. Stops the program as wait_for_received does.
  void wait_until_stopped(operation_base& op) noexcept;
  /// `op` waits for `call`, which this submits; `received` is not armed. Stops the program when another reader waits,
  /// or on another loop.
  void read_directly(operation_base& op, io::request& call) noexcept;
  /// `op` was cancelled. Returns false when it does not wait for `received`. It keeps its place until `reader_ended`,
  /// so that nobody reads the bytes after those that it may have to put back.
  [[nodiscard]] bool stop_waiting(const operation_base& op) noexcept;
  /// The waiting reader has its result, and is about to be resumed.
  void reader_ended() noexcept;
  /// A reader has taken bytes out of `received`, or bypassed it, and may never come back. The watcher continues to
  /// watch.
  void reader_took() noexcept {
    if (watcher != nullptr) [[unlikely]]
      watch_on();
  }
  /// The server of this connection drains: from now on next_or_stop() does not wait for a further message.
  void end_between_messages() noexcept;
  [[noreturn]] void stop_for_two_readers(const char* operation) const noexcept;

  /// For error messages: the peer's address, or the path that either end of a Unix socket is bound to.
  [[nodiscard]] std::string peer_name() const;

  /// Bytes that the peer has acknowledged since the last call with this `seen`, which is 0 at first. For a Unix socket,
  /// and before Linux 4.2: those that the kernel has accepted since the last call, at most 2^32 - 1. Makes a system
  /// call. For time limits. See tcpi_bytes_acked in tcp(7).
  [[nodiscard]] std::uint64_t taken_since(std::uint64_t& seen) noexcept;

  /// True where a write is not tried at once but submitted with those of the other tasks that are ready. For a caller
  /// that waits for its write: docs/decisions/0005.
  [[nodiscard]] static bool submits_writes() noexcept { return event_loop::current().prefers_submission(); }
  /// Returns the number of bytes that the kernel takes without waiting, perhaps 0, or -errno when the connection is
  /// broken.
  /// Takes none while a writer waits. With `more`, the kernel may hold them back because more follows at once.
  [[nodiscard]] std::ptrdiff_t write_now(std::string_view bytes, bool more) noexcept;
  /// The end of what can be read, as receive_queue::end() returns it. After abort(), the end that shutdown(2) makes is
  /// a reset: the peer has not sent an end.
  [[nodiscard]] int true_end(int end) const noexcept { return end == 0 && aborted ? -ECONNRESET : end; }

  /// Makes the connection end with a reset: the peer notices that data is missing, and the kernel keeps no unsent data.
  void reset_at_close() noexcept;

  /// The writer that may be in flight. The others wait for it.
  [[nodiscard]] socket_write_base* first_writer() const noexcept;
  void append_writer(socket_write_base& op) noexcept;
  void remove_writer(socket_write_base& op) noexcept;

  // First, so that they fill the rest of the word that holds the descriptor's flags.
  reading how : 4 = reading::leases;  // how the waiting reader reads
  bool write_cut : 1 = false;         // a write_all was cut off in the middle
  bool closing : 1 = false;
  bool watch_paused : 1 = false;
  bool aborted : 1 = false;
  bool server_stops : 1 = false;  // see end_between_messages()
  bool write_ended : 1 = false;   // the peer was told that nothing more follows
  std::uint32_t written = 0;      // bytes that the kernel has accepted, see taken_since()

  using io::descriptor::fd;
  io::receive_queue received;
  operation_base* waiting_reader = nullptr;  // waits for bytes
  socket_write_base* last_writer = nullptr;  // its successor is the first: a ring
  socket_close_op* closer = nullptr;
  end_watch* watcher = nullptr;

  // Links in the list of connections of the server that accepted this one.
  socket_state* next_peer = nullptr;
  socket_state** peer_link = nullptr;

  address peer;  // empty when it is not an internet address

 private:
  explicit socket_state(int number) noexcept;
  explicit constexpr socket_state(operation_base& nobody) noexcept : write_cut(true), waiting_reader(&nobody) {}
  ~socket_state() = default;
  static void received_something(io::completion& c) noexcept;
  void hand_to_reader() noexcept;
  void tell_watcher() noexcept;
  void watch_on() noexcept;
};

}  // namespace gyre
