// src/http/stream_transport.hpp: any byte stream that carries HTTP: TLS, memory.
#pragma once

#include <gyre/stream/any_stream.hpp>

#include "transport.hpp"

namespace gyre::http {

class stream_transport final : public transport {
 public:
  /// Lifetime: `stream` outlives this.
  explicit stream_transport(any_stream& stream) noexcept : stream_(stream) {}

  task<transfer> receive(buffer_lease& into, std::chrono::nanoseconds limit) override;
  task<transfer> write(std::string_view first, std::string_view second, std::chrono::nanoseconds limit) override;
  task<file_transfer> send_file(int file, std::uint64_t offset, std::size_t count,
                                std::chrono::nanoseconds limit) override;
  std::size_t write_now(std::string_view, bool) noexcept override { return 0; }
  [[nodiscard]] bool writes_now() const noexcept override { return false; }
  task<> shutdown_write() override;
  void reset_at_end() noexcept override {}
  void interrupt() noexcept override;
  void watch_end(end_watch*) noexcept override {}

 private:
  any_stream& stream_;
  cancel_scope* receiving_ = nullptr;
};

}  // namespace gyre::http
