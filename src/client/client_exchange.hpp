// src/client/client_exchange.hpp: a request, the connection that carries it, and its response.
#pragma once

#include <gyre/client/client_request.hpp>
#include <gyre/sync/event.hpp>
#include <gyre/tasks/task_group.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

#include "client_connection.hpp"
#include "client_state.hpp"
#include "content_decoder.hpp"
#include "phase_clock.hpp"
#include "request_text.hpp"
#include "response_input.hpp"

namespace gyre::http {

class client_exchange {
 public:
  explicit client_exchange(client_state& of);
  client_exchange& operator=(client_exchange&&) = delete;
  ~client_exchange();

  // The request, set by client_request.
  request_text request;
  request_body_owner source;
  std::optional<std::uint64_t> source_length;
  interim_owner observer;
  std::chrono::nanoseconds total{0};
  unsigned max_redirects = 0;
  bool expects_continue = false;

  /// The program needs it no more: ends or keeps its connection, and gives it back to the client.
  void recycle() noexcept;

  /// Sends the request until the head of the final response has arrived.
  task<> run();

  /// Instead of run(): answers it here.
  void answer(int status, std::span<const field> fields, std::string_view body);

  // The response.
  [[nodiscard]] const response_input& response() const noexcept { return input_; }
  [[nodiscard]] bool used_old_connection() const noexcept { return on_reused_; }
  /// The server has agreed to speak another protocol, with status 101.
  [[nodiscard]] bool switched() const noexcept { return input_.head().status() == switching_protocols; }
  /// Only once, after a switch. Null when the connection was taken already.
  [[nodiscard]] any_stream take_stream();
  [[nodiscard]] client_state& state() const noexcept { return state_; }
  /// In debug builds, stops the program when the response belongs to another loop.
  void check_loop(const char* operation) const noexcept {
    state_.owner.check(operation, "a response of an http::client");
  }
  /// See client_body.
  GYRE_CORO_WRAPPER task<std::string_view> receive(std::size_t most) {
    return decoder_ ? receive_decoded(most) : receive_raw(most);
  }
  [[nodiscard]] bool is_decompressed() const noexcept { return decoder_ != nullptr; }
  [[nodiscard]] bool at_end() const noexcept { return decoder_ ? decoded_end_ : input_.at_end(); }
  [[nodiscard]] std::uint64_t received() const noexcept {
    return decoder_ ? decoded_bytes_ - decoded_.size() : input_.received();
  }
  void check_arrived() const;
  task<std::uint64_t> copy_to(body_writer& to);
  [[nodiscard]] bool has_failed() const noexcept {
    return decoder_broken_ || (answered_ && !conn_ && !input_.has_whole_body());
  }
  /// Nothing when only the end of the body will show its length.
  [[nodiscard]] std::optional<std::uint64_t> length() const noexcept;

 private:
  // client_exchange.cpp: attempts
  task<> run_one();
  task<> attempt();
  void begin_attempt();
  [[nodiscard]] bool is_small() const noexcept {
    return !source && !expects_continue && request.body.size() <= at_once;
  }
  task<std::error_code> converse();
  task<std::error_code> receive_head();
  task<std::error_code> receive_more();
  void take_final_head();
  [[noreturn]] void fail(std::error_code reason) const;
  [[noreturn]] void fail(client_errc reason, std::string_view detail = {}) const;
  [[noreturn]] void fail_late() const;
  [[nodiscard]] std::string subject() const;

  task<std::string_view> receive_raw(std::size_t most);

  // body_copy.cpp
  [[nodiscard]] socket_state* bulk_target(body_writer& to, std::size_t size) const noexcept;
  task<> copy_bulk(socket_state& target, body_writer& to, std::size_t size);
  task<std::size_t> receive_bulk(socket_bulk& bulk);

  // protocol_switch.cpp
  void check_switch();

  // decoded_body.cpp
  void choose_decoder();
  [[nodiscard]] bool asked_for_codings() const noexcept;
  void check_decoded(std::size_t more);
  task<std::string_view> receive_decoded(std::size_t most);

  // retry.cpp
  [[nodiscard]] bool can_repeat(bool nothing_written) noexcept;
  [[nodiscard]] std::optional<std::chrono::nanoseconds> retry_delay(unsigned attempts, const std::error_code* failure);
  [[nodiscard]] std::optional<std::chrono::nanoseconds> retry_after() const;

  // redirect.cpp
  [[nodiscard]] bool is_redirect() const noexcept;
  void follow_redirect(unsigned followed);
  void repeat_body();

  // request_sending.cpp: bodies that take time
  task<std::error_code> converse_while_sending();
  task<bool> finish_sending(task_handle<void>& sending);
  task<> send_all();
  task<> send_text();
  task<> send_source();
  GYRE_CORO_WRAPPER task<std::string_view> next_piece() {
    clock_.begin_unlimited(phase::sending, *conn_);  // the source takes its time
    return source->next();
  }
  void count_sent(std::uint64_t& sent, std::size_t more) const;
  task<bool> send_piece(std::string_view first, std::string_view second);
  void begin_piece() noexcept;
  [[nodiscard]] bool piece_ended(const write_outcome& written, bool is_head) noexcept;

  // body_copy.cpp
  [[nodiscard]] body_reader* bulk_body(std::size_t size) const noexcept;
  task<bool> send_bulk(body_reader& from, std::size_t size, std::uint64_t& sent);

  // connecting.cpp
  task<> acquire();
  [[nodiscard]] bool hides_identity();
  task<> wait_for_slot();
  task<> dial();
  task<> open_socket();
  /// The proxy that sees the request itself, or null.
  [[nodiscard]] const url* reading_proxy() const noexcept {
    return proxy_ != nullptr && proxy_->scheme() == "http" && request.url.scheme() == "http" ? proxy_ : nullptr;
  }

  void finish_connection() noexcept;
  void give_up_connection() noexcept;
  void release_slot() noexcept;
  void abandon_body() noexcept;
  [[nodiscard]] bool take_arrived();
  [[nodiscard]] std::chrono::nanoseconds how_long_to_keep() const noexcept;

  static constexpr int switching_protocols = 101;
  static constexpr std::size_t at_once = std::size_t{16} << 10U;
  static constexpr std::size_t record = std::size_t{16} << 10U;

  client_state& state_;
  origin* origin_ = nullptr;
  const url* proxy_ = nullptr;  // of the options
  bool has_slot_ = false;
  connection_owner conn_;
  phase_clock clock_;
  std::string head_;
  std::string cookie_text_;  // of the jar
  std::string answer_;       // that did not come from a server
  response_input input_;
  std::unique_ptr<char[]> buffer_;  // one record, for connections that lend nothing

  std::unique_ptr<content_decoder> decoder_;  // of a compressed body
  std::unique_ptr<char[]> decoded_memory_;
  std::string_view encoded_;  // not decoded yet
  std::string_view decoded_;  // not read yet
  std::uint64_t decoded_bytes_ = 0;
  bool decoded_end_ = false;
  bool decoder_broken_ = false;

  bool on_reused_ = false;
  bool identified_ = true;        // until a redirect leads to another origin
  bool sent_ = false;             // the request is complete
  bool nothing_written_ = false;  // of this attempt, known for sure
  bool answered_ = false;         // the final head has arrived
  bool source_used_ = false;
  std::uint64_t pieces_ = 0;  // of requests, so far
  bool early_ = false;        // the final head came before the request was complete
  bool body_begun_ = false;   // the server has not refused it
  bool writes_bulk_ = false;  // the piece that is being sent is bulk
  unsigned interim_ = 0;
  std::error_code write_error_;
  event go_on_;  // "100 Continue" has come
};

}  // namespace gyre::http
