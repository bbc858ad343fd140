// src/http/http1_connection/http1_body_source.hpp: the body of a request of HTTP/1, in the bytes received.
#pragma once

#include <gyre/http/body_decoder.hpp>
#include <gyre/http/body_source.hpp>

#include "message_input.hpp"

#include <cstdint>

namespace gyre::http {

class http1_body_source final : public body_source {
 public:
  /// Lifetime: `input` must outlive this.
  explicit http1_body_source(message_input& input) noexcept : input_(input) {}
  http1_body_source& operator=(http1_body_source&&) = delete;

  /// The head has been consumed; its body follows.
  void begin(const framing& body) noexcept {
    body_.begin(body);
    continue_wanted_ = body.expects_continue;
  }

  [[nodiscard]] std::string_view take(std::size_t max) override;
  [[nodiscard]] task<> wait() override;
  [[nodiscard]] bool at_end() const noexcept override { return body_.at_end(); }
  [[nodiscard]] bool failed() const noexcept override { return input_.broken; }
  [[nodiscard]] std::optional<std::uint64_t> length() const noexcept override { return body_.length(); }
  [[nodiscard]] std::vector<field> trailers() const override { return body_.trailers(); }
  /// The next message could be found only after the rest, which nobody reads.
  void give_up() noexcept override { input_.broken = true; }

  [[nodiscard]] task<> ask_for_it() override;
  [[nodiscard]] socket_state* bulk_socket() const noexcept override;
  [[nodiscard]] task<std::size_t> receive_bulk(socket_bulk& bulk) override;
  void end_bulk() noexcept override;

  /// Discards the part of the rest that has arrived, and subtracts its size from `max`, chunk framing included. Returns
  /// false when it makes no sense to wait for the end: more than `max` bytes are missing, the chunks are malformed, or
  /// the client waits for 100. Errors: none.
  [[nodiscard]] bool skip_arrived(std::uint64_t& max);

 private:
  void check(std::error_code outcome);

  message_input& input_;
  body_decoder body_;
  bool continue_wanted_ = false;  // the client waits for 100 before it sends the body
};

}  // namespace gyre::http
