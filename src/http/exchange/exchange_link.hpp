// src/http/exchange/exchange_link.hpp: the interface of the protocol that carries an exchange.
#pragma once

#include <gyre/coro/task.hpp>
#include <gyre/http/body_sink.hpp>
#include <gyre/http/body_writer.hpp>
#include <gyre/http/field.hpp>
#include <gyre/http/response.hpp>
#include <gyre/io/backend.hpp>
#include <gyre/net/secure_session.hpp>

#include <cstdint>
#include <span>
#include <string_view>
#include <system_error>

#include "response_plan.hpp"

namespace gyre::http {

/// Carries one exchange, besides its body_source and end_source: a connection of HTTP/1, or a stream of HTTP/2.
/// served_exchange calls these functions, those of the response in this order.
class exchange_link {
 public:
  // ---- The request.

  /// Sends an interim response. Status 100 asks a client that waits for it to send the body. Returns false when that is
  /// not possible: the response has begun, the client does not know interim responses, or the connection is broken.
  /// Several tasks may call it at the same time.
  ///
  /// Lifetime: `fields`, which have been checked, stay valid until the await returns. Cancel: it may be sent in part;
  /// nothing can be sent after it. Errors: std::bad_alloc.
  virtual task<bool> send_interim(int status, std::span<const field> fields) = 0;
  /// The encryption of the connection, or null.
  [[nodiscard]] virtual const secure_session* security() const noexcept = 0;

  // ---- The response.

  /// Whether another protocol can take over.
  enum class takeover : std::uint8_t {
    ready,
    obstructed,  // the rest of the request's body is in the way
    gone,        // the connection is broken
  };
  /// Waits until the rest of the request's body has come, at most until `limit`.
  virtual task<takeover> prepare_takeover(io::monotonic_time limit) = 0;
  /// No interim response begins after this. Returns true when interim_ended() has to be awaited.
  [[nodiscard]] virtual bool end_interim() noexcept = 0;
  virtual task<> interim_ended() = 0;

  /// The state of the exchange when the head of its response leaves.
  struct circumstances {
    bool reads_on = false;    // its producer may still read the request's body
    bool takes_over = false;  // another protocol follows its head
    bool in_time = true;      // the time limit of the exchange has not passed
  };
  /// How much of a response begin() has handed over.
  enum class begun : std::uint8_t {
    all,          // nothing is left to do
    all_waiting,  // flush() has to be awaited
    head,         // the body follows
  };
  /// Takes the head, which it holds back until the first byte when a producer makes the body, and perhaps a small body.
  virtual begun begin(response_state& answer, const response_plan& plan, const circumstances& how) = 0;
  /// True while the head is held back: another response may take its place.
  [[nodiscard]] virtual bool holds_head() const noexcept = 0;

  // The body, in one of three ways.
  virtual task<std::error_code> send_bytes(std::string_view whole_body) = 0;
  /// Errors: io_error when the file cannot be read, or has become shorter.
  virtual task<std::error_code> send_file(int file, std::uint64_t offset, std::uint64_t count) = 0;
  /// Calls the producer. A protocol that needs a task to send meanwhile starts one. Returns without calling it when the
  /// connection is broken.
  virtual task<> produce(body_producer& from, body_writer& writer) = 0;
  /// The sink of that writer.
  [[nodiscard]] virtual body_sink& sink() noexcept = 0;
  /// The producer has made the whole body.
  virtual void finish() = 0;

  virtual task<std::error_code> flush() = 0;
  /// Bytes after the head that the connection has taken so far.
  [[nodiscard]] virtual std::uint64_t taken() const noexcept = 0;
  /// True when the client takes nothing more.
  [[nodiscard]] virtual bool is_gone() const noexcept = 0;

  /// Instead of a body: another protocol. Returns false when it has failed.
  virtual task<bool> take_over(protocol_handler& protocol) = 0;

 protected:
  ~exchange_link() = default;
};

}  // namespace gyre::http
