// src/http/server/socket_connection.hpp: a connection over a socket; a coroutine only while a request takes time.
#pragma once

#include <gyre/coro/task.hpp>
#include <gyre/loop/event_loop.hpp>
#include <gyre/net/socket_stream.hpp>
#include <gyre/tasks/task_state.hpp>

#include "counted_connection.hpp"
#include "idle_limit.hpp"
#include "server_state.hpp"

#include <cstddef>
#include <cstdint>
#include <exception>
#include <source_location>
#include <utility>

namespace gyre::http {

/// The task of one connection, and all that the connection holds while it is idle. It takes what it needs for requests
/// when bytes arrive, and gives that back before it waits again. Requests that are answered at once need no coroutine.
///
///   it is          continued by                     `leaf` is     the stream belongs to
///   about to begin begin, from the ready queue      null          this
///   idle           bytes_arrived, for the socket    this          this, which is its reader
///   cancelled      idle_cancelled, ready queue      this          this, still its reader
///   a coroutine    what it awaits                   of an await   the coroutine
///   ready          serve_received, ready queue      null          this
///
/// A cancel ends it: at once when it is idle, otherwise at the next await.
class socket_connection final : public task_state, private operation_base, private timer {
 public:
  /// Takes over `peer`, and begins from the ready queue. The caller owns one reference. Errors: std::bad_alloc.
  static task_state& create(server_state& server, socket_stream&& peer, cancel_scope& parent, task_owner* owner,
                            const spawn_options& options, std::source_location where);
  /// Ends the connection that uses `socket`, if it is idle.
  static void end_if_idle(socket_state& socket) noexcept;

 private:
  struct activity;
  struct encryption;
  struct carried_stream : socket_stream {
    carried_stream() noexcept = default;
    explicit carried_stream(socket_stream&& peer) noexcept : socket_stream(std::move(peer)) {}
  };

  socket_connection(server_state& server, cancel_scope& parent, task_owner* owner, const spawn_options& options,
                    std::source_location where);
  ~socket_connection() = default;
  static void* operator new(std::size_t size) { return frame_pool::allocate(size); }
  static void operator delete(void* memory, std::size_t size) noexcept { frame_pool::deallocate(memory, size); }

  void begin() noexcept;
  void serve_received() noexcept;
  void serve_encrypted() noexcept;
  void serve_arrived_encrypted() noexcept;
  static task<> send_rest(encryption& of, bool& goes_on);
  [[nodiscard]] bool is_readable() const noexcept;
  [[nodiscard]] bool begin_idling() noexcept;
  void idle_cancelled() noexcept;
  void coroutine_left() noexcept;
  [[nodiscard]] bool may_go_on(std::uint64_t requests) noexcept;
  void end_connection(std::exception_ptr failure) noexcept;
  void report_failed_handshake() noexcept;
  void limit_wait() noexcept;

  static void bytes_arrived(operation_base& op) noexcept;
  static void cancel_idle(cancellable& leaf) noexcept;
  static void look_at_time(timer& t) noexcept;
  static void coroutine_ended(task_context& context) noexcept;
  static const task_kind kind_of_connection;

  template <void (socket_connection::*function)() noexcept>
  void call_from_ready_queue() noexcept {
    complete = [](io::completion& c) noexcept {
      (static_cast<socket_connection&>(static_cast<task_state&>(c)).*function)();
    };
    loop().schedule(*this);
  }

  [[nodiscard]] bool is_idle() const noexcept { return leaf == this; }

  // First, so that they fill the rest of the last word of the timer.
  connection_place place_;
  bool encrypted_ = false;
  std::uint32_t requests_ = 0;  // answered before the current activity, and not more than fit

  server_state& server_;
  carried_stream peer_;
  activity* activity_ = nullptr;  // while requests are being answered
  idle_limit limit_;
  union {
    std::uint64_t taken_by_peer_ = 0;  // as socket_transport::taken_by_peer()
    encryption* encryption_;           // when it is encrypted
  };
};

}  // namespace gyre::http
