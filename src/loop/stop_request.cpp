// src/loop/stop_request.cpp: waiting for the stop request.
#include <gyre/loop/stop_request.hpp>

namespace gyre {

void request_stop() noexcept { stop_observers::request(); }

stop_requested_op::~stop_requested_op() {
  if (listed) misuse("a coroutine was destroyed while it waits for a stop request; cancel and await it first");
}

bool stop_requested_op::try_now() noexcept {
  stop_observers::note_interest();
  return stop_observers::level() != stop_level::none;
}

void stop_requested_op::start() noexcept {
  told = call_member<&stop_requested_op::on_level>;
  role = stop_role::waiter;
  event_loop::current().stops().add(*this);
}

void stop_requested_op::on_cancel() noexcept {
  if (!listed) return;  // it was notified already: success beats cancel
  withdrawn_ = true;
  on_level(stop_level::none);
}

void stop_requested_op::on_level(stop_level /*level*/) noexcept {
  event_loop::current().stops().remove(*this);
  finish_soon();
}

std::expected<void, std::error_code> stop_requested_op::take_result() const {
  if (withdrawn_) return std::unexpected(cancel_error());
  return {};
}

void stop_requested_op::fail(std::error_code reason) const { throw std::system_error(reason, "stop_requested"); }

}  // namespace gyre
