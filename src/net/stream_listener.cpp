// src/net/stream_listener.cpp: serves connections until they are drained.
#include <gyre/io/io_error.hpp>
#include <gyre/loop/deadline.hpp>
#include <gyre/net/stream_listener.hpp>

#include <arpa/inet.h>
#include <netinet/in.h>

#include <charconv>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <new>
#include <stdexcept>

namespace gyre {
namespace {

enum class cause : std::uint8_t { reset, shortage, other };

cause cause_of(const std::exception_ptr& failure) {
  try {
    std::rethrow_exception(failure);
  } catch (const io_error& error) {
    const bool is_reset = error.code() == std::errc::connection_reset || error.code() == std::errc::broken_pipe;
    return is_reset ? cause::reset : cause::other;
  } catch (const std::bad_alloc&) {
    return cause::shortage;
  } catch (...) {  // only its kind matters here
    return cause::other;
  }
}

}  // namespace

void served_connections::check(const serve_options& options) {
  if (options.max_connections == 0)
    throw std::invalid_argument("serve: max_connections is 0: no connection would ever be served");
  if (options.drain < std::chrono::nanoseconds::zero()) throw std::invalid_argument("serve: drain is negative");
}

served_connections::served_connections(task_context& task, bool observe_stop, loop_share* share, bool resets) noexcept
    : child_tasks(task, &ended, shielding::shielded), task_(task), share_(share), resets_(resets) {
  told = call_member<&served_connections::on_level>;
  role = observe_stop ? stop_role::server : stop_role::bystander;
  event_loop::current().stops().add(*this);
}

served_connections::accepting::accepting(served_connections& connections) noexcept : connections_(connections) {
  scope_.open(connections.task_);
  connections.accepting_ = this;
  if (connections.stopped_) scope_.cancel();
}

void served_connections::on_level(stop_level level) noexcept {
  if (level == stop_level::requested && role != stop_role::server) return;
  stopped_ = true;
  if (accepting_ != nullptr) accepting_->scope_.cancel();
  if (level == stop_level::forced) cut_off();
}

void served_connections::end_between_messages() noexcept {
  for (socket_state* each = peers_; each != nullptr; each = each->next_peer) each->end_between_messages();
}

void served_connections::cut_off() noexcept {
  if (resets_)
    scope().cut_off();
  else
    scope().cancel();
}

void served_connections::close(const std::exception_ptr& failure) const {
  if (failure) std::rethrow_exception(failure);
  if (task_.cancel_pending) throw_cancelled();
}

task<> served_connections::drain(served_connections& connections, std::chrono::nanoseconds limit) {
  struct deadline_timer : timer {
    served_connections* connections = nullptr;
    void on_time() noexcept {
      // run_options::after_drain begins, even if a handler never ends.
      if (stop_observers::level() != stop_level::none) {
        stop_observers& stops = event_loop::current().stops();
        stops.remove(*connections);
        connections->role = stop_role::bystander;
        stops.add(*connections);
      }
      connections->cut_off();
    }
  } clock;
  clock.connections = &connections;
  clock.fire = call_member<&deadline_timer::on_time>;
  clock.deadline = deadline_after(limit);
  event_loop::current().timers().arm(clock);
  co_await connections.all_ended();
  event_loop::current().timers().disarm(clock);
}

served_connections::~served_connections() {
  event_loop::current().stops().remove(*this);
  // A handler may have moved its stream to an owner that outlives this object.
  for (socket_state* each = peers_; each != nullptr; each = each->next_peer) {
    each->peer_link = nullptr;
    each->server_stops = false;
  }
}

void served_connections::add(socket_state& socket) noexcept {
  socket.next_peer = peers_;
  if (peers_ != nullptr) peers_->peer_link = &socket.next_peer;
  peers_ = &socket;
  socket.peer_link = &peers_;
}

peer_text::peer_text(const address& peer) noexcept {
  if (peer.empty()) return;
  const bool brackets = peer.is_v6();
  char* next = text_;
  if (brackets) *next++ = '[';
  if (brackets)
    ::inet_ntop(AF_INET6, &static_cast<const sockaddr_in6*>(peer.data())->sin6_addr, next, INET6_ADDRSTRLEN);
  else
    ::inet_ntop(AF_INET, &static_cast<const sockaddr_in*>(peer.data())->sin_addr, next, INET_ADDRSTRLEN);
  next += std::strlen(next);
  if (brackets) *next++ = ']';
  *next++ = ':';
  next = std::to_chars(next, std::end(text_), peer.port()).ptr;
  length_ = static_cast<std::size_t>(next - text_);
}

void served_connections::ended(child_tasks& children, task_state& child) noexcept {
  if (loop_share* const share = static_cast<served_connections&>(children).share_) release(*share);
  if (!child.failure() || child.was_cancelled()) return;
  static_cast<served_connections&>(children).report(child.failure(), child.name(), child.spawned_at);
}

void served_connections::report(const std::exception_ptr& failure, std::string_view name,
                                std::source_location where) noexcept {
  const cause why = cause_of(failure);
  if (why == cause::reset) return;
  if (why == cause::shortage) {  // every connection may fail this way
    const io::monotonic_time now = event_loop::current().now();
    if (now < quiet_until_) return;
    quiet_until_ = now + between_reports;
  }
  event_loop::report({failure, name, where});
}

}  // namespace gyre
