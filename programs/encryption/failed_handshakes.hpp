// programs/encryption/failed_handshakes.hpp: counts the TLS handshakes that fail, and logs some of them.
#pragma once

#include <gyre/coro/task.hpp>
#include <gyre/http/server.hpp>

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>

namespace programs {

/// Prints at most ten failures a minute on standard error, and then their number: a scan of the port must not fill the
/// disk. Thread: any, also at the same time.
class failed_handshakes final : public gyre::http::handshake_observer {
 public:
  failed_handshakes() = default;
  failed_handshakes& operator=(failed_handshakes&&) = delete;
  /// Prints the number of those that were not printed.
  ~failed_handshakes() override { end_minute(); }

  void handshake_failed(const gyre::http::failed_handshake& what) noexcept override;

  /// Ends each minute: prints the number of those that were not printed. Cancel: ends it.
  [[nodiscard]] gyre::task<> count_minutes();

  /// In the format of Prometheus.
  [[nodiscard]] std::string metrics() const;

 private:
  void end_minute() noexcept;

  std::atomic<std::uint64_t> all_ = 0;
  std::mutex mutex_;
  std::uint64_t in_minute_ = 0;
};

}  // namespace programs
