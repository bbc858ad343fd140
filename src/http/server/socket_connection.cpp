// src/http/server/socket_connection.cpp: waits for requests, and becomes a coroutine for those that take time.
#include "socket_connection.hpp"
#include "socket_activity.hpp"

#include <algorithm>
#include <limits>

namespace gyre::http {

static_assert(sizeof(void*) != 8 || sizeof(socket_connection) <= 312, "an idle connection would need a larger block");

const task_kind socket_connection::kind_of_connection{&coroutine_ended, &task_state::describe, &task_state::top_scope};

socket_connection::socket_connection(server_state& server, cancel_scope& parent, task_owner* owner,
                                     const spawn_options& options, std::source_location where)
    : task_state(sizeof(socket_connection), kind_of_connection, event_loop::current(), parent, owner, options, where),
      server_(server) {
  operation_base::cancel = &cancel_idle;
  proceed = &bytes_arrived;
  fire = &look_at_time;
  ++server.open;
}

task_state& socket_connection::create(server_state& server, socket_stream&& peer, cancel_scope& parent,
                                      task_owner* owner, const spawn_options& options, std::source_location where) {
  auto* const made = new socket_connection(server, parent, owner, options, where);
  made->peer_ = carried_stream(std::move(peer));
  made->call_from_ready_queue<&socket_connection::begin>();
  return *made;
}

void socket_connection::begin() noexcept {
  loop().set_running_task(this);
  if (cancel_pending) return end_connection(nullptr);
  if (place_.take(server_, peer_.socket().peer)) {
    if (server_.app.options.encryption) {
      try {
        encryption_ = new encryption(*this);
        encrypted_ = true;
      } catch (...) {  // no memory
        return end_connection(std::current_exception());
      }
      const io::monotonic_time now = loop().recent();
      limit_.set_last(
          now + std::min<io::monotonic_time>(server_.app.options.timeouts.handshake.count(), io::wait_forever - now));
    }
    if (begin_idling()) return;
    return serve_received();
  }
  if (server_.app.options.encryption) return end_connection(nullptr);  // it would not understand an answer
  try {
    activity_ = new activity(*this);
    run(activity_->client.refuse_service());
  } catch (...) {  // no memory
    end_connection(std::current_exception());
  }
}

void socket_connection::end_if_idle(socket_state& socket) noexcept {
  if (socket.waiting_reader != nullptr && socket.waiting_reader->proceed == &bytes_arrived)
    cancel_idle(*socket.waiting_reader);
}

// The reader of the socket has its result.
void socket_connection::bytes_arrived(operation_base& op) noexcept {
  auto& self = static_cast<socket_connection&>(op);
  self.leaf = nullptr;
  self.serve_received();
}

// Success beats cancel: bytes that have come are still served.
void socket_connection::cancel_idle(cancellable& leaf) noexcept {
  auto& self = static_cast<socket_connection&>(static_cast<operation_base&>(leaf));
  if (self.peer_.socket().stop_waiting(self)) self.call_from_ready_queue<&socket_connection::idle_cancelled>();
}

void socket_connection::idle_cancelled() noexcept {
  leaf = nullptr;
  peer_.socket().reader_ended();
  serve_received();
}

// Nothing of this task runs, and nobody reads from the socket. Serves what has arrived, and waits again.
void socket_connection::serve_received() noexcept {
  if (encrypted_) return serve_encrypted();
  innermost = nullptr;
  loop().set_running_task(this);
  socket_state& socket = peer_.socket();
  do {
    if (!socket.received.has_bytes()) return end_connection(nullptr);  // the end of the stream, an error, or a cancel
    try {
      buffer_lease received = socket.received.take();
      socket.reader_took();
      activity_ = new activity(*this);
      if (!activity_->client.serve_at_once(received)) return run(activity_->client.serve_rest(activity_->goes_on));
    } catch (...) {  // no memory
      return end_connection(std::current_exception());
    }
    const std::uint64_t requests = activity_->client.requests();
    delete std::exchange(activity_, nullptr);
    if (!may_go_on(requests)) return end_connection(nullptr);
  } while (!begin_idling());
}

bool socket_connection::is_readable() const noexcept {
  return peer_.socket().received.readable() || (encrypted_ && encryption_->carrier.has_buffered());
}

// After the answers to what had arrived.
bool socket_connection::may_go_on(std::uint64_t requests) noexcept {
  const auto counted =
      static_cast<std::uint32_t>(std::min<std::uint64_t>(requests, std::numeric_limits<std::uint32_t>::max()));
  if (std::exchange(requests_, counted) != counted || requests > counted) {
    limit_.came_request();
    return true;
  }
  if (server_.app.draining) return false;
  limit_.came_others(server_, requests_, loop().now());
  return true;
}

// The timer stays armed between waits, and postpones itself when it fires too early. So a wait costs only a few stores.
[[gnu::always_inline]] inline void socket_connection::limit_wait() noexcept {
  const io::monotonic_time until = limit_.begin(server_, requests_, loop().recent());
  if (until == io::wait_forever || (armed() && deadline <= until)) return;
  loop().timers().disarm(*this);
  deadline = until;
  loop().timers().arm(*this);
}

// Returns false when there is something to serve, or the end is to be noticed, at once.
bool socket_connection::begin_idling() noexcept {
  server_.idle_place.where = std::source_location::current();
  innermost = &server_.idle_place;
  socket_state& socket = peer_.socket();
  if (cancel_pending || limit_.is_over(loop().recent())) {
    end_connection(nullptr);
    return true;
  }
  limit_wait();
  if (is_readable()) {
    if (loop().may_continue_inline()) return false;
    loop().end_turn();
    call_from_ready_queue<&socket_connection::serve_received>();
    return true;
  }
  leaf = this;
  socket.wait_for_received(*this, socket_state::reading::leases);
  return true;
}

void socket_connection::look_at_time(timer& t) noexcept {
  auto& self = static_cast<socket_connection&>(t);
  if (!self.is_idle() || self.limit_.until() == io::wait_forever) return;
  if (self.loop().now() >= self.limit_.until()) return cancel_idle(self);
  self.deadline = self.limit_.until();
  self.loop().timers().arm(self);
}

void socket_connection::coroutine_ended(task_context& context) noexcept {
  static_cast<socket_connection&>(context).call_from_ready_queue<&socket_connection::coroutine_left>();
}

void socket_connection::coroutine_left() noexcept {
  std::exception_ptr failure = leave_coroutine();
  if (failure || !activity_->goes_on) return end_connection(std::move(failure));
  const std::uint64_t requests = activity_->client.requests();
  if (!encrypted_) taken_by_peer_ = activity_->carrier.taken_by_peer();
  delete std::exchange(activity_, nullptr);
  if (encrypted_) encryption_->carrier.give_back_piece();
  loop().set_running_task(this);
  if (!may_go_on(requests)) return end_connection(nullptr);
  if (!begin_idling()) serve_received();
}

void socket_connection::end_connection(std::exception_ptr failure) noexcept {
  innermost = nullptr;
  delete std::exchange(activity_, nullptr);
  loop().timers().disarm(*this);
  if (std::exchange(encrypted_, false)) {
    server_.encryption.handshakes.remove(*encryption_);
    server_.encryption.busy_sessions.remove(*encryption_);
    if (!failure) report_failed_handshake();
    encryption_->carrier.say_goodbye();
    delete encryption_;
  }
  place_.give_back(server_, peer_.socket().peer);
  peer_ = carried_stream();
  --server_.open;
  end(std::move(failure));
}

}  // namespace gyre::http
