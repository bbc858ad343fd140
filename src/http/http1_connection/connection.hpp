// src/http/http1_connection/connection.hpp: serves the requests of one connection in order, while it is not idle.
#pragma once

#include <gyre/coro/task.hpp>
#include <gyre/http/response.hpp>
#include <gyre/net/address.hpp>

#include "exchange/exchange_link.hpp"
#include "exchange/served_exchange.hpp"
#include "http1_resources.hpp"
#include "response_sender.hpp"
#include "transport/transport.hpp"
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
  connection(http1_resources& shared, transport& carrier, const address& peer, std::uint64_t requests = 0) noexcept
      : shared_(shared), transport_(carrier), peer_(peer), requests_(requests) {}
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
  static constexpr std::uint64_t max_skipped = std::uint64_t{64} << 10U;  // of a body that the handler did not read

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
  class reset_on_abort;

  [[nodiscard]] bool serve_at_once(workspaces::lent& work);
  [[nodiscard]] stop serve_arrived(workspace& work);
  [[nodiscard]] bool answer_at_once(workspace& work);
  [[nodiscard]] bool is_simple(const workspace& work, const response_state& r) const noexcept;
  [[nodiscard]] bool append_simple(workspace& work, response_state& r);
  // The observer learns of a request whose exchange has no coroutine.
  [[gnu::noinline]] void tell_of_simple(workspace& work, int status, std::uint64_t body_bytes) noexcept;
  [[gnu::noinline]] void tell_of_unanswered(workspace& work) noexcept;
  [[nodiscard]] sending how_to_send(const workspace& work, bool close);
  task<next_step> serve_with_waits();
  task<next_step> answer_while_sending(workspace& work);
  task<next_step> answer(workspace& work);
  [[gnu::noinline]] task<next_step> last_step(workspace& work, served_exchange::end end);
  [[gnu::noinline]] task<next_step> skip_body(workspace& work);
  // `reason` says what is wrong with the request; empty for what the status says. It is static text.
  task<next_step> refuse(workspace& work, int status, std::string_view reason = {});
  [[gnu::noinline]] task<> finish_connection();
  void begin_request(workspace& work);

  // exchange_link: connection_link.cpp
  task<bool> send_interim(int status, std::span<const field> fields) override;
  [[nodiscard]] const secure_session* security() const noexcept override { return transport_.security(); }
  task<takeover> prepare_takeover(io::monotonic_time limit) override;
  [[nodiscard]] bool end_interim() noexcept override;
  task<> interim_ended() override;
  begun begin(response_state& answer, const response_plan& plan, const circumstances& how) override;
  [[nodiscard]] bool holds_head() const noexcept override { return work_->sink && work_->sink->holds_head(); }
  task<std::error_code> send_bytes(std::string_view whole_body) override;
  task<std::error_code> send_file(int file, std::uint64_t offset, std::uint64_t count) override;
  task<> produce(body_producer& from, body_writer& writer) override;
  // begin() has made the sink. NOLINTBEGIN(bugprone-unchecked-optional-access)
  [[nodiscard]] body_sink& sink() noexcept override { return *work_->sink; }
  void finish() override { work_->sink->finish(); }
  // NOLINTEND(bugprone-unchecked-optional-access)
  task<std::error_code> flush() override;
  [[nodiscard]] std::uint64_t taken() const noexcept override { return work_->sink ? work_->sink->taken() : 0; }
  [[nodiscard]] bool is_gone() const noexcept override {
    return work_->output.failed() && !work_->output.file_failed();
  }
  task<bool> take_over(protocol_handler& protocol) override;

  [[nodiscard]] bool last_request() const noexcept {
    return app().draining || requests_ >= app().options.limits.requests_per_connection;
  }

  [[nodiscard]] application& app() const noexcept { return shared_.app; }

  http1_resources& shared_;
  transport& transport_;
  const address& peer_;
  workspace* work_ = nullptr;         // set while a request is being answered
  workspace* handed_over_ = nullptr;  // by serve_at_once to serve_with_waits
  stop reached_ = stop::at_end_of_input;
  std::uint64_t requests_;
  io::monotonic_time exchange_ends_ = io::wait_forever;  // the time limit of the last request
  time_point began_;                                     // the last request; known if there is an observer
  bool untold_ = false;                                  // the observer will learn of the request that has begun
  bool last_ = false;                                    // no request is read after the response
  bool closes_ = false;       // the connection ends with the response, which has been announced
  bool in_response_ = false;  // the head may have been sent, and the end of the response has not been produced
};

}  // namespace gyre::http
