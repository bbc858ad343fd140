// src/http/transport/socket_transport.hpp: a TCP or Unix connection that carries HTTP.
#pragma once

#include <gyre/net/socket_stream.hpp>

#include <cstdint>
#include <utility>

#include "transfer_deadline.hpp"
#include "transport.hpp"

namespace gyre::http {

class socket_transport final : public transport {
 public:
  /// `taken` is what taken_by_peer() of the previous transport of this stream returned, or 0. Lifetime: `stream` must
  /// outlive this.
  socket_transport(socket_stream& stream, std::uint64_t taken) noexcept
      : stream_(stream), receiving_(stream), taken_(taken) {}

  task<std::error_code> receive(buffer_lease& into, std::chrono::nanoseconds limit) override;
  task<std::error_code> write(std::string_view first, std::string_view second, std::chrono::nanoseconds limit) override;
  task<send_file_result> send_file(int file, std::uint64_t offset, std::size_t count,
                                   std::chrono::nanoseconds limit) override;
  [[nodiscard]] socket_state* bulk_socket() noexcept override { return &stream_.socket(); }
  task<std::error_code> receive_bulk(socket_bulk& piece, std::uint64_t max_count,
                                     std::chrono::nanoseconds limit) override;
  task<std::error_code> write_bulk(socket_bulk& piece, std::chrono::nanoseconds limit) override;
  std::ptrdiff_t write_now(std::string_view bytes, write_hint hint) noexcept override;
  [[nodiscard]] bool writes_now() const noexcept override { return true; }
  task<> shutdown_write() override;
  void reset_at_end() noexcept override { stream_.socket().reset_at_close(); }
  void interrupt() noexcept override { stream_.cancel(); }
  [[nodiscard]] bool is_broken() const noexcept override { return stream_.socket().received.end() < 0; }
  void watch_end(end_watch* watch) noexcept override { stream_.socket().watch_end(watch); }
  /// Bytes that the peer had taken when a time limit of a write last asked for them.
  [[nodiscard]] std::uint64_t taken_by_peer() const noexcept { return taken_; }

 private:
  class receiving;
  task<std::error_code> write_one(std::string_view bytes, std::chrono::nanoseconds limit);
  task<std::error_code> write_both(std::string_view first, std::string_view second, std::chrono::nanoseconds limit);

  socket_stream& stream_;
  receive_deadline receiving_;
  std::uint64_t taken_;  // see send_deadline
};

// Movable until it begins, because g++ 12 moves what is awaited.
class [[nodiscard("co_await it")]] socket_transport::receiving : public socket_receive_op {
 public:
  receiving(socket_transport& carrier, buffer_lease& into, std::chrono::nanoseconds limit) noexcept
      : socket_receive_op(carrier.stream_.receive()), carrier_(carrier), into_(into), limit_(limit) {}
  bool await_ready() noexcept {
    carrier_.receiving_.begin(limit_);
    return socket_receive_op::await_ready();
  }
  std::error_code await_resume() {
    carrier_.receiving_.end();
    socket_state& socket = carrier_.stream_.socket();
    if (socket.received.has_bytes()) [[likely]] {  // as take_result(), without its result
      into_ = socket.received.take();
      socket.reader_took();
      return std::error_code();
    }
    const auto got = take_result();
    if (!got) return carrier_.receiving_.expired() ? time_limit_passed() : got.error();
    return make_error_code(stream_errc::end_of_stream);
  }

 private:
  socket_transport& carrier_;
  buffer_lease& into_;
  std::chrono::nanoseconds limit_;
};

}  // namespace gyre::http
