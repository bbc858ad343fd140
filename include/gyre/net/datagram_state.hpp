// gyre/net/datagram_state.hpp: the state of a datagram socket; the movable object points to it.
// For authors of operations.
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

/// The longest socket address that is stored: a struct sockaddr_un.
inline constexpr std::size_t max_socket_address_size = 112;
/// Room for the only control message in use: the segment size of a coalesced datagram.
inline constexpr std::size_t datagram_control_room = 24;

/// One datagram socket: its descriptor, the datagrams that nobody has taken yet, and the tasks that wait to receive and
/// to send.
///
/// Lifetime: freed when its socket object is gone and nothing is in flight any more.
struct GYRE_API datagram_state : private io::descriptor {
  /// How a send waits for room: in the backend, or in the socket itself, as Unix sockets need it.
  ///
  /// The kernel does not report when a Unix socket that is not a peer has room again, so the send is retried after a
  /// moment. A ring must not send to a peer without room: the kernel (6.18) takes the bytes before it looks for room,
  /// and its second attempt sends an empty datagram. So the ring only reports when there is room.
  enum class waiting : std::uint8_t { in_backend, by_itself };

  /// Takes over a non-blocking descriptor.
  explicit datagram_state(int number, waiting for_room = waiting::in_backend) noexcept;

  /// The socket of every object that was moved from. It looks as if a receiver waited and there were no room to send.
  /// So each operation leaves its fast path, as it does in these cases, and then stops the program with a message.
  /// Nothing ever writes to it.
  static datagram_state closed;
  /// Stops the program when this is `closed`. For functions that are not operations.
  void expect_open(const char* function) const noexcept {
    if (this == &closed) [[unlikely]]
      misuse_of_closed(function, kind);
  }
  /// Stops the program when this is `closed`, or belongs to another loop than the running one.
  void expect_usable(const char* operation) const noexcept {
    if (pool_ != &event_loop::current().backend().buffers()) [[unlikely]]
      stop_for_wrong_use(operation);
  }

  /// The socket object is gone: closes the descriptor, at once or when the kernel has released it, and frees this.
  void abandon() noexcept;
  /// Ends every operation that waits on this socket with operation_canceled.
  void cancel_all() noexcept;

  [[nodiscard]] io::descriptor& descriptor() noexcept { return *this; }
  [[nodiscard]] static datagram_state& of(const io::request& r) noexcept {
    return static_cast<datagram_state&>(*r.target);
  }
  using io::descriptor::fd;

  // The datagrams that the multishot receive has brought: buffers of the pool, linked by their slots.
  [[nodiscard]] bool has_arrivals() const noexcept { return first_ != io::buffer_pool::none; }
  [[nodiscard]] bool receives_many() const noexcept { return arrivals_.where == io::phase::in_flight; }
  /// The caller owns the buffer of the first datagram from here on.
  [[nodiscard]] std::uint32_t take_first() noexcept;
  [[nodiscard]] io::message_view arrival(std::uint32_t buffer) const noexcept;
  [[nodiscard]] io::buffer_pool& pool() const noexcept { return *pool_; }
  /// Starts receiving into buffers, unless it already does, enough datagrams wait, or a receiver has its own request.
  void receive_many() noexcept;

  // ---- Receiving. Datagrams leave the kernel one way at a time, or they would be delivered out of order: through the
  // multishot `arrivals_`, through a separate request of the receiver, or, when neither is in flight, through an
  // attempt. These four decide.

  /// `op` waits for arrivals, which this starts. `told` is called when a datagram is there. Stops the program when
  /// another receiver waits.
  void wait_for_arrivals(operation_base& op, void (*told)(operation_base&) noexcept) noexcept;
  /// `op` waits for `call`, which this submits; the multishot is not in flight. Stops the program when another receiver
  /// waits.
  void receive_directly(operation_base& op, io::request& call) noexcept;
  /// `op` was cancelled. Returns false when it does not wait for arrivals. It keeps its place until `receiver_ended`.
  [[nodiscard]] bool stop_waiting(const operation_base& op) noexcept;
  /// The receiver has its result, and is about to be resumed.
  void receiver_ended() noexcept { receiver = nullptr; }

  /// An error that came instead of datagrams, reported once. 0 means none.
  [[nodiscard]] int take_failure() noexcept;

  operation_base* receiver = nullptr;          // waits for a datagram
  datagram_send_base* first_sender = nullptr;  // the sender that may be in flight; the others wait for it
  datagram_send_base* last_sender = nullptr;

  [[nodiscard]] bool waits_by_itself() const noexcept { return for_room_ == waiting::by_itself; }
  /// Makes the first sender retry after a moment.
  void retry_soon() noexcept;
  /// Returns false when no retry was pending.
  bool stop_retrying() noexcept;

 private:
  struct retry_timer : timer {
    datagram_state* socket = nullptr;
    void on_time() noexcept;
  };
  static constexpr const char* kind = "a datagram socket";
  static constexpr std::uint32_t max_waiting = 64;  // more stay in the kernel's queue, which drops at its limit

  explicit constexpr datagram_state(operation_base& nobody) noexcept
      : receiver(&nobody), pool_(nullptr), for_room_(waiting::in_backend) {
    writable = false;
  }
  ~datagram_state();
  void stop_for_wrong_use(const char* operation) const noexcept;
  [[noreturn]] void stop_for_two_receivers(const char* operation) const noexcept;
  static void deliver(io::multishot& m, int result, std::uint32_t buffer) noexcept;
  static void received_something(io::completion& c) noexcept;
  void release_when_quiet() noexcept;

  // Notifies the receiver of a datagram. Null when the receiver has its own request, or was cancelled and is about to
  // report that.
  void (*arrived_)(operation_base&) noexcept = nullptr;
  io::message_multishot arrivals_;
  io::buffer_pool* pool_;  // the loop's
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
