// src/http/server/socket_transport.hpp: a TCP or Unix connection that carries HTTP.
#pragma once

#include <gyre/net/socket_stream.hpp>

#include "transfer_deadline.hpp"
#include "transport.hpp"

namespace gyre::http {

class socket_transport final : public transport {
 public:
  /// Lifetime: `stream` must outlive this.
  explicit socket_transport(socket_stream& stream) noexcept : stream_(stream), receiving_(stream), sending_(stream) {}

  task<transfer> receive(buffer_lease& into, std::chrono::nanoseconds limit) override;
  task<transfer> write(std::string_view first, std::string_view second, std::chrono::nanoseconds limit) override;
  task<send_file_result> send_file(int file, std::uint64_t offset, std::size_t count,
                                   std::chrono::nanoseconds limit) override;
  std::ptrdiff_t write_now(std::string_view bytes, write_hint hint) noexcept override;
  [[nodiscard]] bool writes_now() const noexcept override { return true; }
  task<> shutdown_write() override;
  void reset_at_end() noexcept override { stream_.socket().reset_at_close(); }
  void interrupt() noexcept override { stream_.cancel(); }
  [[nodiscard]] bool is_broken() const noexcept override { return stream_.socket().received.end() < 0; }
  void watch_end(end_watch* watch) noexcept override { stream_.socket().watch_end(watch); }

 private:
  task<transfer> write_one(std::string_view bytes, std::chrono::nanoseconds limit);
  task<transfer> write_both(std::string_view first, std::string_view second, std::chrono::nanoseconds limit);

  socket_stream& stream_;
  transfer_deadline receiving_;
  transfer_deadline sending_;
};

}  // namespace gyre::http
