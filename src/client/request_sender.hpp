// src/client/request_sender.hpp: sends a request whose body takes time, while the response may already come.
#pragma once

#include <gyre/client/client_options.hpp>
#include <gyre/coro/task.hpp>
#include <gyre/sync/event.hpp>
#include <gyre/tasks/task_handle.hpp>

#include "http1_channel.hpp"
#include "outgoing_body.hpp"
#include "phase_clock.hpp"
#include "request_text.hpp"

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <system_error>

namespace gyre::http {

/// Sends the head, waits for "100 Continue" when it is asked to, and sends the body piece by piece. Each piece has the
/// time limit between_bytes; the source of the body may take its time.
///
/// A server that answers early and has failed does not want the rest: RFC 9112 §9.3. Another one may go on reading, for
/// as long as there is progress. If the request is never completed, its connection is not used again.
class request_sender {
 public:
  /// Lifetime: the arguments outlive this.
  request_sender(http1_channel& to, phase_clock& clock, const client_timeouts& limits, const request_text& request,
                 outgoing_body& body) noexcept
      : channel_(to), clock_(clock), limits_(limits), request_(request), body_(body) {}
  request_sender& operator=(request_sender&&) = delete;

  /// Prepares for another attempt.
  void begin(bool expects_continue) noexcept;
  /// Sends everything. Ends early when the server takes no more; the reader of the response finds out why.
  ///
  /// Cancel: the request is cut off. Errors: client_error wrong_body_length; the exceptions of the source.
  task<> send();
  /// The server has sent "100 Continue".
  void go_on() noexcept { go_on_.set(); }

  /// The final head has arrived while `sending` runs. Returns whether the rest of the body should still be sent, which
  /// finish() waits for.
  [[nodiscard]] bool response_came(int status) noexcept;
  /// From now on the response's time limits use the clock, and finish() alone limits the rest of the body.
  void leave_clock() noexcept { has_clock_ = false; }
  /// Changes whenever a piece has been sent. Bulk counts while the server takes it.
  [[nodiscard]] std::uint64_t progress() noexcept {
    if (writes_bulk_ && channel_.has_progressed()) ++pieces_;
    return pieces_;
  }
  /// Waits for the end of send(). A source that delivers nothing is given up: soon when the response is complete,
  /// otherwise like a body that stops. Returns true when the total has passed.
  ///
  /// Cancel: `sending` goes on. Errors: none.
  task<bool> finish(task_handle<void>& sending, bool response_complete);

  /// The request is complete, perhaps without this: a small one is sent in one piece.
  [[nodiscard]] bool is_complete() const noexcept { return complete_; }
  void set_complete() noexcept { complete_ = true; }
  /// No byte of this attempt can have reached the server.
  [[nodiscard]] bool nothing_written() const noexcept { return nothing_written_; }
  void note_nothing_written(bool known) noexcept { nothing_written_ = known; }
  [[nodiscard]] std::error_code error() const noexcept { return error_; }

  // Pieces of a body that is passed on. See copy_body().
  void send_head() noexcept {}  // it has been sent
  task<> write(std::string_view piece);
  [[nodiscard]] socket_state* bulk_socket() const noexcept {
    return early_ || error_ ? nullptr : channel_.bulk_target();
  }
  task<> write_bulk(socket_bulk& bulk);
  [[nodiscard]] bool is_cut_off() const noexcept { return static_cast<bool>(error_); }

 private:
  [[nodiscard]] bool waits_for_permission() const noexcept {
    return expects_continue_ && (body_.source || !request_.body.empty());
  }
  task<> send_text();
  task<> send_source();
  void count(std::size_t more);
  void begin_piece() noexcept;
  void piece_ended(const write_outcome& written, bool is_head = false) noexcept;

  http1_channel& channel_;
  phase_clock& clock_;
  const client_timeouts& limits_;
  const request_text& request_;
  outgoing_body& body_;

  event go_on_;
  std::error_code error_;     // the server takes no more
  std::uint64_t sent_ = 0;    // bytes of the source
  std::uint64_t pieces_ = 0;  // of requests, so far
  bool expects_continue_ = false;
  bool complete_ = false;
  bool nothing_written_ = false;  // known for sure
  bool early_ = false;            // the final head came before the request was complete
  bool has_clock_ = true;         // the response was not handed out
  bool body_begun_ = false;       // the server has not refused it
  bool writes_bulk_ = false;      // the piece that is being sent is bulk
};

}  // namespace gyre::http
