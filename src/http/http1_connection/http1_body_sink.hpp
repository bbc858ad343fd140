// src/http/http1_connection/http1_body_sink.hpp: the body of a response of HTTP/1, in chunks or as it is.
#pragma once

#include <gyre/http/body_sink.hpp>

#include "message_output.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace gyre::http {

/// Holds the head back until the first byte of the body. Sends pieces when 16 KiB have gathered, or when the task
/// waits.
class http1_body_sink final : public body_sink {
 public:
  /// `head` has not been sent. Lifetime: both must outlive this.
  http1_body_sink(message_output& output, std::string_view head, bool chunked) noexcept
      : output_(output),
        head_(head),
        begins_at_(output.sent() + output.buffer().size() + head.size()),
        chunked_(chunked) {}
  http1_body_sink& operator=(http1_body_sink&&) = delete;

  [[nodiscard]] task<> write(std::string_view piece) override;
  void append(std::string_view piece) override;
  [[nodiscard]] task<> flush() override;
  [[nodiscard]] task<> send_file(int file, std::uint64_t offset, std::uint64_t count) override;
  void send_head() override;
  void add_trailer(std::string_view name, std::string_view value) override;
  [[nodiscard]] std::size_t waiting() const noexcept override { return output_.failed() ? 0 : output_.waiting(); }
  [[nodiscard]] std::error_code error() const noexcept override { return output_.error(); }
  void push() noexcept override { output_.push(); }
  [[nodiscard]] socket_state* bulk_socket() const noexcept override;
  [[nodiscard]] task<> write_bulk(socket_bulk& bulk) override;

  /// Ends the body: the head, the last chunk and the trailers go to the output.
  void finish();
  /// True while nothing has been sent.
  [[nodiscard]] bool holds_head() const noexcept { return !head_.empty(); }
  /// Bytes after the head that the connection has taken, framing included.
  [[nodiscard]] std::uint64_t taken() const noexcept {
    return output_.sent() > begins_at_ ? output_.sent() - begins_at_ : 0;
  }

 private:
  void begin_piece(std::uint64_t size);
  task<> end_piece();
  void release_head() { output_.buffer().append(std::exchange(head_, {})); }

  message_output& output_;
  std::string_view head_;    // until it is released
  std::string trailers_;     // complete lines
  std::uint64_t begins_at_;  // in what the output sends
  bool chunked_;
};

}  // namespace gyre::http
