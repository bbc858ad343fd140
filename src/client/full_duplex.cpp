// src/client/full_duplex.cpp: a response is read while a task sends the rest of the request.
//
// The task belongs to the loop and uses the exchange, which therefore outlives it: an exchange that the program gives
// up cancels the task, and is recycled when the task has ended. Until the response is handed out, the exchange waits
// for the end of the task on every way out.
#include <gyre/coro/owned.hpp>
#include <gyre/loop/timeout_op.hpp>
#include <gyre/tasks/as_expected.hpp>
#include <gyre/tasks/spawn.hpp>
#include <gyre/tasks/timeout.hpp>

#include "client_exchange.hpp"

#include <utility>

namespace gyre::http {

// Ends with the frame of the task, even if the task never ran.
struct client_exchange::sending_in_background {
  explicit sending_in_background(client_exchange& self) noexcept : of(&self) { self.sends_ = true; }
  owned<client_exchange*, &client_exchange::sending_has_ended> of;
};

task<> client_exchange::send_in_background(sending_in_background self) {
  client_exchange& exchange = *self.of;
  try {
    co_await exchange.sender_.send();
  } catch (const cancelled&) {
    throw;
  } catch (...) {
    exchange.send_failure_ = std::current_exception();
    exchange.channel_.interrupt();  // the server would wait for the rest
  }
}

void client_exchange::sending_has_ended() noexcept {
  sends_ = false;
  if (std::exchange(gives_up_, false)) give_up_connection();
  if (std::exchange(recycled_, false)) recycle();
}

task_handle<void> client_exchange::sending() const noexcept {
  if (!sends_) return {};
  sending_.state().add_reference();
  return task_handle<void>(sending_.state());
}

// The task has ended, or is cancelled.
uninterrupted_join_op client_exchange::end_sending() noexcept {
  if (!sending_.done()) sending_.cancel();
  return uninterrupted_join_op(sending_.state());
}

task<std::error_code> client_exchange::converse_in_full_duplex() {
  clock_.begin_unlimited(phase::sending);  // ends the last phase, which may have expired
  send_failure_ = nullptr;
  sending_in_background self(*this);
  sending_ = spawn(send_in_background(std::move(self)), {.name = "sending a request"});
  std::error_code failure;
  std::exception_ptr thrown;
  try {
    failure = co_await receive_head();
  } catch (...) {  // thrown again, also a cancel
    thrown = std::current_exception();
  }
  bool late = false;
  if (!sending_.done() && sender_.response_came(channel_.status()) && !failure && !thrown) {
    // A program has no reason to read a body that is empty, and so to wait for the end of the request.
    const bool is_empty = channel_.begin_body(request.method) == parse_error::none && channel_.at_end();
    if (!is_empty) {
      sender_.leave_clock();
      co_return std::error_code();
    }
    auto finishing = sender_.finish(sending_, true);
    try {
      late = co_await std::move(finishing);
    } catch (...) {
      thrown = std::current_exception();
    }
  }
  co_await end_sending();
  if (late) fail_late();
  if (send_failure_) std::rethrow_exception(std::exchange(send_failure_, nullptr));
  if (thrown) std::rethrow_exception(thrown);
  if (failure && !channel_.received_any() && sender_.error()) co_return sender_.error();
  co_return failure;
}

// The limit between bytes is one of progress in either direction. When there is none, the sending ends.
task<std::error_code> client_exchange::receive_while_sending() {
  const std::uint64_t before = sender_.progress();
  auto receiving = gyre::timeout(clock_.clamped(state_.options().timeouts.between_bytes), channel_.receive_more());
  const auto received = co_await as_expected(std::move(receiving));
  if (received) co_return *received;
  if (received.error() != time_limit_passed() || clock_.is_total_over()) co_return received.error();
  if (sender_.progress() == before) co_await end_sending();
  co_return std::error_code();
}

// The response is complete.
task<> client_exchange::finish_sending() {
  auto finishing = sender_.finish(sending_, true);
  const bool late = co_await std::move(finishing);
  co_await end_sending();
  if (late) {
    give_up_connection();
    fail_late();
  }
  if (send_failure_) {
    give_up_connection();
    std::rethrow_exception(std::exchange(send_failure_, nullptr));
  }
}

}  // namespace gyre::http
