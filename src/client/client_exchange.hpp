// src/client/client_exchange.hpp: a request and its response, over as many channels as that takes.
#pragma once

#include <gyre/client/client_request.hpp>
#include <gyre/tasks/join_op.hpp>
#include <gyre/tasks/task_handle.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

#include "channel_slot.hpp"
#include "client_state.hpp"
#include "decoded_body.hpp"
#include "http1_channel.hpp"
#include "outgoing_body.hpp"
#include "phase_clock.hpp"
#include "request_sender.hpp"
#include "request_text.hpp"

namespace gyre::http {

/// Redirects, retries, cookies, decoding and time limits. A channel carries each attempt.
class client_exchange {
 public:
  explicit client_exchange(client_state& of);
  client_exchange& operator=(client_exchange&&) = delete;

  // The request, set by client_request.
  request_text request;
  outgoing_body body;
  interim_owner observer;
  std::chrono::nanoseconds total{0};
  unsigned max_redirects = 0;
  bool expects_continue = false;
  bool full_duplex = false;

  /// The program needs it no more: ends or keeps its connection, and gives it back to the client.
  void recycle() noexcept;

  // Sending it: begin(), then run_one() for as long as follow_redirects() returns true.
  void begin() noexcept;
  /// Sends the request until the head of a response has arrived that is not worth a retry.
  task<> run_one();
  /// Prepares the next request, if the response is a redirect that is followed. `followed` is the number of those
  /// before. Errors: client_error too_many_redirects, bad_redirect, no_repeatable_body.
  [[nodiscard]] bool follow_redirects(unsigned followed);
  /// Instead of sending it: answers it here.
  void answer(int status, std::span<const field> fields, std::string_view text);

  // The response.
  [[nodiscard]] const http1_channel& response() const noexcept { return channel_; }
  [[nodiscard]] bool used_old_connection() const noexcept { return on_reused_; }
  /// The server has agreed to speak another protocol, with status 101.
  [[nodiscard]] bool switched() const noexcept { return channel_.status() == switching_protocols; }
  /// Only once, after a switch. Null when the connection was taken already.
  [[nodiscard]] any_stream take_stream();
  [[nodiscard]] client_state& state() const noexcept { return state_; }
  /// In debug builds, stops the program when the response belongs to another loop.
  void check_loop(const char* operation) const noexcept {
    state_.owner.check(operation, "a response of an http::client");
  }
  /// See client_body.
  GYRE_CORO_WRAPPER task<std::string_view> receive(std::size_t max = ~std::size_t{0}) {
    return decoded_ ? receive_decoded(max) : receive_raw(max);
  }
  [[nodiscard]] bool is_decompressed() const noexcept { return static_cast<bool>(decoded_); }
  [[nodiscard]] bool at_end() const noexcept { return decoded_ ? decoded_.at_end() : channel_.at_end() && !sends_; }
  [[nodiscard]] std::uint64_t received() const noexcept { return decoded_ ? decoded_.taken() : channel_.received(); }
  void check_arrived() const;
  /// As those of body_source.
  [[nodiscard]] socket_state* bulk_socket() noexcept { return decoded_ || sends_ ? nullptr : channel_.bulk_source(); }
  task<std::size_t> receive_bulk(socket_bulk& bulk);
  void end_bulk() noexcept {}
  [[nodiscard]] bool has_failed() const noexcept {
    return decoded_.has_failed() || (answered_ && !is_connected() && !channel_.has_whole_body());
  }
  /// See client_response::sending.
  [[nodiscard]] task_handle<void> sending() const noexcept;
  /// Nothing when only the end of the body will show its length.
  [[nodiscard]] std::optional<std::uint64_t> length() const noexcept;

 private:
  // client_exchange.cpp: attempts
  task<> attempt();
  void begin_attempt();
  [[nodiscard]] bool is_small() const noexcept {
    return !body.source && !expects_continue && request.body.size() <= max_at_once;
  }
  task<std::error_code> converse();
  task<std::error_code> converse_while_sending();
  task<std::error_code> receive_head();
  void take_final_head();
  void check_switch() const;
  [[nodiscard]] bool asked_for_codings() const noexcept;
  [[noreturn]] void fail(std::error_code reason) const;
  [[noreturn]] void fail(client_errc reason, std::string_view detail = {}) const;
  [[noreturn]] void fail_late() const;
  [[nodiscard]] std::string subject() const;

  // full_duplex.cpp: a response that is read while a task sends the rest of the request
  struct sending_in_background;
  static task<> send_in_background(sending_in_background self);
  task<std::error_code> converse_in_full_duplex();
  task<std::error_code> receive_while_sending();
  task<> finish_sending();
  // An operation, because a task that is awaited in a cancelled scope does not begin.
  [[nodiscard]] uninterrupted_join_op end_sending() noexcept;
  void sending_has_ended() noexcept;

  // channel_use.cpp: from the pool, and back
  [[nodiscard]] bool is_connected() const noexcept { return channel_.is_open() && !gives_up_; }
  [[nodiscard]] bool acquire_at_once();
  task<> acquire();
  [[nodiscard]] bool join_origin();
  [[nodiscard]] bool hides_identity();
  task<> wait_for_slot();
  void finish_connection() noexcept;
  void give_up_connection() noexcept;
  void abandon_body() noexcept;
  [[nodiscard]] std::chrono::nanoseconds how_long_to_keep() const noexcept;

  // response_body.cpp
  task<std::string_view> receive_raw(std::size_t max);
  task<std::string_view> receive_decoded(std::size_t max);

  // retry.cpp
  [[nodiscard]] bool can_repeat(bool nothing_written) noexcept;
  [[nodiscard]] std::optional<std::chrono::nanoseconds> retry_delay(unsigned attempts, const std::error_code* failure);
  [[nodiscard]] std::optional<std::chrono::nanoseconds> retry_after() const;

  // redirect.cpp
  [[nodiscard]] bool is_redirect() const noexcept;
  void follow_redirect(unsigned followed);

  static constexpr int switching_protocols = 101;
  static constexpr std::size_t max_at_once = std::size_t{16} << 10U;

  client_state& state_;
  channel_slot slot_;
  http1_channel channel_;
  phase_clock clock_;
  request_sender sender_;
  decoded_body decoded_;
  const url* proxy_ = nullptr;  // of the options
  std::string cookie_text_;     // of the jar
  std::string answer_;          // that did not come from a server
  unsigned interim_ = 0;
  task_handle<void> sending_;        // while the response is read
  std::exception_ptr send_failure_;  // of the source
  bool sends_ = false;               // that task exists, and uses this
  bool gives_up_ = false;            // the channel closes when that task has ended
  bool recycled_ = false;            // so does this
  bool on_reused_ = false;
  bool identified_ = true;  // until a redirect leads to another origin
  bool answered_ = false;   // the final head has arrived
};

}  // namespace gyre::http
