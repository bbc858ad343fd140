// src/http/middleware/compressed_body.hpp: compresses a body while it is produced.
#pragma once

#include <gyre/coro/task.hpp>
#include <gyre/http/body_writer.hpp>
#include <gyre/http/response.hpp>
#include <gyre/io/completion.hpp>

#include "content_encoder.hpp"

#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace gyre::http {

/// Compresses the data written, and sends it when the writing task waits for something else.
///
/// Bounded: once body_writer::max_waiting compressed bytes wait for the client, the encoder's output is no longer
/// sent in the background. The next call first waits until the client has taken them.
class compressing_filter final : public body_sink {
 public:
  compressing_filter(body_writer& out, content_encoder& encoder, std::size_t on_thread_from) noexcept
      : out_(out), encoder_(encoder), on_thread_from_(on_thread_from) {}
  compressing_filter(const compressing_filter&) = delete;
  compressing_filter& operator=(const compressing_filter&) = delete;
  ~compressing_filter() override;

  task<> write(std::string_view piece) override;
  void append(std::string_view piece) override;
  task<> flush() override;
  void send_head() override { out_.send_head(); }
  void add_trailer(std::string_view name, std::string_view value) override { out_.add_trailer(name, value); }
  [[nodiscard]] std::size_t waiting() const noexcept override { return ready_.size() + out_.waiting(); }
  task<> finish();

 private:
  // While it is in the ready queue, it must outlive the filter.
  struct flusher : io::completion {
    compressing_filter* filter;
  };
  class busy_scope;
  task<> encode(std::string_view piece, encode_until until, bool on_thread);
  task<> send_ready();
  void append_ready();
  void flush_when_waiting();
  static void flush_now(io::completion& c) noexcept;

  body_writer& out_;
  content_encoder& encoder_;
  std::size_t on_thread_from_;
  std::size_t encoded_in_turn_ = 0;  // on the loop, since the last yield
  std::string ready_;                // compressed, but not written yet
  std::exception_ptr failure_;
  flusher* scheduled_ = nullptr;
  bool pending_ = false;  // the encoder holds something
  bool busy_ = false;     // a call is being awaited
};

/// Runs another producer through a compressing_filter.
class compressing_producer final : public body_producer {
 public:
  compressing_producer(std::unique_ptr<body_producer> inner, std::optional<std::uint64_t> announced, std::string coding,
                       const encoder_options& how, std::size_t on_thread_from)
      : inner_(std::move(inner)),
        announced_(announced),
        coding_(std::move(coding)),
        how_(how),
        on_thread_from_(on_thread_from) {}
  task<> produce(body_writer& out) override;

 private:
  std::unique_ptr<body_producer> inner_;
  std::optional<std::uint64_t> announced_;
  std::string coding_;
  encoder_options how_;
  std::size_t on_thread_from_;
};

}  // namespace gyre::http
