// src/http/exchange/served_exchange.hpp: a request and its answer on a server, whatever protocol carries them.
#pragma once

#include <gyre/coro/task.hpp>
#include <gyre/http/handler.hpp>
#include <gyre/http/response.hpp>
#include <gyre/loop/deadline.hpp>

#include "end_source.hpp"
#include "exchange_link.hpp"
#include "exchange_scope.hpp"
#include "response_plan.hpp"
#include "served_request.hpp"

#include <chrono>
#include <cstdint>
#include <optional>

namespace gyre::http {

/// Awaits the handler within its limits, turns failures into responses, sends the response, and tells the observer of
/// the server when it is destroyed. Answers that are there at once and need no wait do without it.
class served_exchange {
 public:
  /// Lifetime: all of them must outlive this.
  served_exchange(application& server, served_request& asked, exchange_link& link) noexcept
      : app_(server), request_(asked), link_(link), observed_(server.options.observer != nullptr) {}
  served_exchange& operator=(served_exchange&&) = delete;
  ~served_exchange() {
    if (observed_) tell_observer();
  }

  enum class end : std::uint8_t {
    complete,
    switched,    // another protocol has spoken, and has ended well
    unanswered,  // nothing was sent: the client has left, or there was no memory
    cut_off,     // the client must not take the response for a complete one
  };
  /// Answers the request. Without `started`, the handler could not be called. `client` reports that the client leaves.
  [[gnu::noinline]] task<end> answer(std::optional<started_response> started, end_source& client);

  /// Nothing is sent: the client left before its handler ran.
  void note_client_left() noexcept;
  /// The observer learns the time since then. Without it, the time is zero.
  void start_clock(time_point began) noexcept { began_ = began; }
  /// The protocol has answered.
  void note_answer(int status, std::uint64_t body_bytes, bool complete) noexcept {
    status_ = status;
    body_bytes_ = body_bytes;
    complete_ = complete;
  }
  /// When the time limit of answer() passes, or io::wait_forever.
  [[nodiscard]] io::monotonic_time limit() const noexcept { return limit_; }

  /// Called while the exception of a handler is being handled, which is no cancel. Returns nothing when the client has
  /// left, or when there is no memory for a response.
  static std::optional<response> response_for_failure(served_request& asked) noexcept;

 private:
  class sent_count;
  task<end> send(response& r);
  task<bool> send_rest(response_state& answer, const response_plan& plan, exchange_link::begun begun,
                       std::optional<response>& instead);
  task<bool> produce(response_state& answer, sent_count& count);
  task<> ask_for_body();
  [[nodiscard]] bool has_unread_body() noexcept { return !request_.body().at_end() && !request_.body().failed(); }
  void tell_observer() const noexcept;

  application& app_;
  served_request& request_;
  exchange_link& link_;
  exchange_scope* scope_ = nullptr;
  io::monotonic_time limit_ = io::wait_forever;
  time_point began_;
  bool observed_;
  bool complete_ = false;
  int status_ = 503;  // for a request that ended before it had an answer
  std::uint64_t body_bytes_ = 0;
};

}  // namespace gyre::http
