// src/net/socket_next.cpp: waiting for the next message of a connection, or for the request to stop.
#include <gyre/io/missed_end.hpp>
#include <gyre/net/socket_next_op.hpp>

#include "last_error.hpp"
#include "transfer_error.hpp"

namespace gyre {

void socket_next_op::remove_from_observers() noexcept { event_loop::current().stops().remove(*this); }

void socket_next_op::start() noexcept {
  socket_->wait_for_received(*this, socket_state::reading::next);
  if (socket_->peer_link != nullptr) {
    if (socket_->server_stops) stop();
    return;
  }
  stop_observers::note_interest();
  told = call_member<&socket_next_op::on_level>;
  event_loop::current().stops().add(*this);
}

void socket_next_op::on_level(stop_level /*level*/) noexcept {
  stop_observing();
  stop();
}

void socket_next_op::stop() noexcept {
  if (!io::has_unreceived(socket_->fd, event_loop::current().backend())) end_early(end::stopped);
}

void socket_next_op::on_cancel() noexcept { end_early(end::cancelled); }

// From the ready queue: what the loop has received in this turn comes first.
void socket_next_op::end_early(end why) noexcept {
  if (!socket_->stop_waiting(*this)) return;  // it has its result
  stop_observing();
  ended_ = why;
  complete = call_member<&socket_next_op::on_ended_early>;
  event_loop::schedule_here(*this);
}

void socket_next_op::on_ended_early() noexcept {
  socket_->reader_ended();
  proceed(*this);
}

std::expected<bool, std::error_code> socket_next_op::take_result() {
  const io::receive_queue& received = socket_->received;
  if (received.has_bytes()) return true;
  const int last = socket_->true_end(received.end());
  if (last < 0) return std::unexpected(errno_code(-last));
  if (last != io::receive_queue::open || ended_ == end::stopped) return false;
  if (ended_ == end::none) socket_->stop_for_two_readers("next_or_stop");  // the other reader took the data
  return std::unexpected(cancel_error());
}

void socket_next_op::fail(std::error_code reason) const { throw_transfer_error(reason, "next_or_stop", *socket_, 0); }

}  // namespace gyre
