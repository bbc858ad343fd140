// src/http/server/connection.hpp: serves the requests of one connection in order, while it is not idle.
#pragma once

#include <gyre/coro/task.hpp>
#include <gyre/http/response.hpp>
#include <gyre/net/address.hpp>

#include "exchange/exchange_link.hpp"
#include "exchange/exchange_scope.hpp"
#include "response_sender.hpp"
#include "server_state.hpp"
#include "transport.hpp"
#include "workspace.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace gyre::http {

class connection final : private exchange_link {
 public:
  /// `requests` of the connection have been answered before.
  connection(server_state& server, transport& carrier, const address& peer, std::uint64_t requests = 0) noexcept
      : server_(server), transport_(carrier), peer_(peer), requests_(requests) {}
  connection(const connection&) = delete;
  connection& operator=(const connection&) = delete;
  ~connection();

  /// Serves what needs no wait. Returns false when serve_rest has to go on; it has to follow. Errors: std::bad_alloc.
  [[nodiscard]] bool serve_at_once(buffer_lease& received);
  /// Same. Lifetime: `received` is used only until the handler is called.
  [[nodiscard]] bool serve_at_once(std::string_view received);
  /// Serves requests until all received bytes are used up. Sets `goes_on` when the connection may wait for others.
  /// The transport may be closed when that does not happen.
  task<> serve_rest(bool& goes_on);
  /// Answers 503 to a connection over the limit, unless too many are being answered.
  task<> refuse_service();
  [[nodiscard]] std::uint64_t requests() const noexcept { return requests_; }

 private:
  /// How the connection continues after a request.
  enum class next_step : std::uint8_t {
    go_on,
    skip_body,  // then it goes on: the response is complete, and a part of the request's body is missing
    close,      // the client asked for it, or is gone
    linger,     // the client may still be sending, and has to see the last response first
    reset,      // a response was cut off
  };
  /// Why `serve_arrived` has stopped.
  enum class stop : std::uint8_t {
    at_end_of_input,  // the rest is not a complete head
    at_bad_request,   // workspace::error tells the reason
    at_slow_answer,   // workspace::started takes time
    at_full_output,
    at_end_of_budget,  // others run before the next request
  };
  struct progress;
  class observer_guard;
  class reset_on_abort;

  [[nodiscard]] bool serve_at_once(workspaces::lent& work);
  [[nodiscard]] stop serve_arrived(workspace& work);
  [[nodiscard]] bool answer_at_once(workspace& work);
  [[nodiscard]] bool is_simple(const workspace& work, const response_state& r) const noexcept;
  [[nodiscard]] sending how_to_send(const workspace& work, bool close);
  task<next_step> serve_with_waits();
  task<next_step> answer_while_sending(workspace& work);
  // Its frame would not fit the pool if it were embedded in the frame of a caller.
  [[gnu::noinline]] task<next_step> answer(workspace& work);
  task<next_step> send(workspace& work, response& r, progress& p);
  task<bool> send_body(workspace& work, response_sender& sender, progress& p, std::optional<response>& instead);
  [[nodiscard]] static bool needs_skip(workspace& work) noexcept;
  static task<> ask_for_body(workspace& work, progress& p);
  [[gnu::noinline]] task<next_step> skip_body(workspace& work);
  task<next_step> refuse(workspace& work, int status);
  task<next_step> switch_protocols(workspace& work, protocol_handler& protocol);
  [[gnu::noinline]] task<> finish();
  task<bool> send_interim(int status, std::span<const field> fields) override;
  [[nodiscard]] const secure_session* security() const noexcept override { return transport_.security(); }
  static task<> interim_sent(workspace& work);

  void begin_request(workspace& work);
  static std::optional<response> response_for_failure(workspace& work) noexcept;
  static std::optional<response> response_to_current_exception(workspace& work);
  void tell_observer(const workspace& work, const progress& p) const noexcept;
  [[nodiscard]] bool last_request() const noexcept {
    return server_.draining || requests_ >= server_.options.limits.requests_per_connection;
  }

  server_state& server_;
  transport& transport_;
  const address& peer_;
  workspace* work_ = nullptr;         // set while a request is being answered
  workspace* handed_over_ = nullptr;  // by serve_at_once to serve_with_waits
  stop reached_ = stop::at_end_of_input;
  std::uint64_t requests_;
  io::monotonic_time exchange_ends_ = io::wait_forever;  // the time limit of the last request
  bool in_response_ = false;  // the head may have been sent, and the end of the response has not been produced
};

}  // namespace gyre::http
