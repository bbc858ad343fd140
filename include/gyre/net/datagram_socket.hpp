// gyre/net/datagram_socket.hpp: the state of a datagram socket, behind the movable one. For authors.
#pragma once

#include <gyre/attributes.hpp>
#include <gyre/io/backend.hpp>
#include <gyre/io/message_multishot.hpp>
#include <gyre/loop/operation.hpp>
#include <gyre/loop/timer_wheel.hpp>

#include <cstddef>
#include <cstdint>

namespace gyre {

class datagram_send_base;

/// Longest socket address that is kept: a struct sockaddr_un.
inline constexpr std::size_t longest_socket_address = 112;
/// Room for the one control message that is used: the size of the parts of a coalesced datagram.
inline constexpr std::size_t datagram_control_room = 24;

/// One datagram socket: its descriptor, what has arrived and nobody has taken, who waits to receive, who waits to send.
///
/// Lifetime: freed when its socket object has let go and nothing is in flight any more.
struct GYRE_API datagram_socket : private io::descriptor {
  /// How a send waits for room: the backend does it, or the socket by itself, as Unix sockets need it.
  ///
  /// The kernel does not tell when a Unix socket that is no peer has room again: the send is tried again in a moment. And a
  /// ring must not send to a peer that has none: the kernel (6.18) takes the bytes before it looks for room, and its second
  /// attempt sends an empty datagram. So the ring only tells when there is room.
  enum class waiting : std::uint8_t { in_backend, by_itself };

  /// Takes over a non-blocking descriptor.
  explicit datagram_socket(int number, waiting for_room = waiting::in_backend) noexcept;

  /// Stands in for the socket of an object that was moved from. It looks as if a receiver waited and there were no room to send, so
  /// that each operation leaves its fast path as it would for these, and then stops the program with a sentence. Nothing ever
  /// writes to it.
  static datagram_socket closed;
  /// Stops the program when this is `closed`. For functions that are no operations.
  void expect_open(const char* function) const noexcept {
    if (this == &closed) [[unlikely]]
      misuse_of_closed(function, kind);
  }
  /// Stops the program when this is `closed`, or belongs to another loop than the running one.
  void expect_usable(const char* operation) const noexcept {
    if (pool_ != &event_loop::current().backend().buffers()) [[unlikely]]
      stop_for_wrong_use(operation);
  }

  /// The socket object is gone: closes the descriptor, at once or when the kernel has let go of it, and frees this.
  void abandon() noexcept;
  /// Ends every operation that waits on this socket with operation_canceled.
  void cancel_all() noexcept;

  [[nodiscard]] io::descriptor& descriptor() noexcept { return *this; }
  [[nodiscard]] static datagram_socket& of(const io::request& r) noexcept {
    return static_cast<datagram_socket&>(*r.target);
  }
  using io::descriptor::fd;

  // What the multishot receive has brought: buffers of the pool, linked by their slots.
  [[nodiscard]] bool has_arrivals() const noexcept { return first_ != io::buffer_pool::none; }
  [[nodiscard]] bool receives_many() const noexcept { return arrivals_.where == io::phase::in_flight; }
  /// The buffer of the first is the caller's from here on.
  [[nodiscard]] std::uint32_t take_first() noexcept;
  [[nodiscard]] io::message_view arrival(std::uint32_t buffer) const noexcept;
  [[nodiscard]] io::buffer_pool& pool() const noexcept { return *pool_; }
  /// Starts receiving into buffers, unless it does already, enough wait to be taken, or a receiver has a request of its own.
  void receive_many() noexcept;

  // ---- Receiving. Datagrams leave the kernel by one way at a time, or they would be delivered out of order: by the multishot
  // `arrivals_`, by a request of the receiver's own, or by an attempt, when neither is in flight. These four decide.

  /// `op` waits for what arrives, which this starts; `told` is called when something is there. Stops the program when another
  /// receiver waits.
  void wait_for_arrivals(operation_base& op, void (*told)(operation_base&) noexcept) noexcept;
  /// `op` waits for `call`, which this submits; the multishot is not in flight. Stops the program when another receiver waits.
  void receive_directly(operation_base& op, io::request& call) noexcept;
  /// `op` was cancelled. False: it does not wait for arrivals. It keeps its place until `receiver_ended`.
  [[nodiscard]] bool stop_waiting(const operation_base& op) noexcept;
  /// The receiver has its result, and is about to be told.
  void receiver_ended() noexcept { receiver = nullptr; }

  /// An error that came instead of datagrams, once; 0: none.
  [[nodiscard]] int take_failure() noexcept;

  operation_base* receiver = nullptr;          // who waits for a datagram
  datagram_send_base* first_sender = nullptr;  // the one that may be in flight; the others wait behind it
  datagram_send_base* last_sender = nullptr;

  [[nodiscard]] bool waits_by_itself() const noexcept { return for_room_ == waiting::by_itself; }
  /// Has the first sender try again in a moment.
  void retry_soon() noexcept;
  /// False: it was not going to.
  bool stop_retrying() noexcept;

 private:
  struct retry_timer : timer {
    datagram_socket* socket = nullptr;
  };
  static constexpr const char* kind = "a datagram socket";
  static constexpr std::uint32_t most_waiting = 64;  // more stay in the queue of the kernel, which drops at its limit

  explicit constexpr datagram_socket(operation_base& nobody) noexcept
      : receiver(&nobody), pool_(nullptr), for_room_(waiting::in_backend) {
    writable = false;
  }
  ~datagram_socket();
  void stop_for_wrong_use(const char* operation) const noexcept;
  [[noreturn]] void stop_for_two_receivers(const char* operation) const noexcept;
  static void deliver(io::multishot& m, int result, std::uint32_t buffer) noexcept;
  static void received_something(io::completion& c) noexcept;
  void release_when_quiet() noexcept;

  // Tells the receiver that a datagram is there. Null: it has a request of its own, or was cancelled, and is about to say so.
  void (*arrived_)(operation_base&) noexcept = nullptr;
  io::message_multishot arrivals_;
  io::buffer_pool* pool_;  // of the loop that this belongs to
  std::uint32_t first_ = io::buffer_pool::none;
  std::uint32_t last_ = io::buffer_pool::none;
  std::uint32_t count_ = 0;
  int failure_ = 0;
  bool abandoned_ = false;
  bool retrying_ = false;
  waiting for_room_;
  retry_timer retry_;
};

}  // namespace gyre
