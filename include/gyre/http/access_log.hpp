// gyre/http/access_log.hpp: logs one line for each answered request.
#pragma once

#include <gyre/attributes.hpp>
#include <gyre/http/exchange_observer.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>

namespace gyre::http {

enum class log_format : std::uint8_t {
  /// The format of Apache and nginx, followed by the duration in seconds:
  ///   10.0.0.7 - ann [21/Nov/2026:09:11:33 +0000] "GET /a HTTP/1.1" 200 512 "-" "curl/8" 0.000153
  combined,
  /// One JSON object a line. Members without a value are left out.
  json,
};

struct access_log_options {
  log_format format = log_format::combined;
  /// Bytes that are kept while the descriptor accepts nothing. Further lines are lost.
  std::size_t buffer = 256 << 10;
  std::size_t max_value_size = 2 << 10;  ///< bytes of a target or a field; the rest becomes "..."
};

/// Writes a log to the descriptor of a file, pipe, socket or terminal, and never waits for it. Lines are gathered and
/// written at most once per turn of the loop. When the descriptor accepts nothing, lines are lost, and a later line
/// reports how many.
///
///   http::access_log log(STDOUT_FILENO);
///   options.observer = &log;
///
/// Text from the client is escaped: it cannot forge a line, and JSON stays valid. The user and the request ID are the
/// request's attributes "user" and "request_id". The time is when the request was answered, in UTC.
/// Thread: belongs to one loop; the program is stopped when the server of another loop calls it. A server on several
/// loops needs a log for each, in a loop_local. Several logs may write to one file opened for appending, or to one
/// pipe. Lines of up to PIPE_BUF (4096 bytes) then stay whole; longer ones may be interleaved with others
/// when the pipe is full.
class GYRE_API access_log final : public exchange_observer {
 public:
  /// The caller keeps ownership of the descriptor. A pipe or terminal is opened a second time, so that it does not
  /// become non-blocking for others. Errors: io_error "open the access log: Bad file descriptor".
  explicit access_log(int descriptor, const access_log_options& options = {});
  access_log& operator=(access_log&&) = delete;
  /// Writes the remaining lines, as far as the descriptor accepts them.
  ~access_log() override;

  void answered(const exchange& what) noexcept override;

  /// The number of lines lost so far.
  [[nodiscard]] std::uint64_t lost() const noexcept;

 private:
  struct state;
  state* state_;
};

}  // namespace gyre::http
