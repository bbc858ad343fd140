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
  operation_base::cancel = [](cancellable& c) noexcept {
    auto& self = static_cast<stop_requested_op&>(static_cast<operation_base&>(c));
    if (!self.listed) return;  // it was notified already: success beats cancel
    event_loop::current().stops().remove(self);
    self.withdrawn_ = true;
    self.finish_soon();
  };
  told = [](stop_observer& observer, stop_level /*level*/) noexcept {
    auto& self = static_cast<stop_requested_op&>(observer);
    event_loop::current().stops().remove(self);
    self.finish_soon();
  };
  role = stop_role::waiter;
  event_loop::current().stops().add(*this);
}

std::expected<void, std::error_code> stop_requested_op::take_result() const {
  if (!withdrawn_) return {};
  if (scope_cancelled()) throw_cancelled();
  return std::unexpected(std::make_error_code(std::errc::operation_canceled));
}

void stop_requested_op::fail(std::error_code reason) const { throw std::system_error(reason, "stop_requested"); }

}  // namespace gyre
