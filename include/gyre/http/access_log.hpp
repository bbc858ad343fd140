// gyre/http/access_log.hpp: one line for each request that was answered.
#pragma once

#include <gyre/attributes.hpp>
#include <gyre/http/server.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>

namespace gyre::http {

enum class log_format : std::uint8_t {
  /// As of Apache and nginx, with the seconds that it took behind:
  ///   10.0.0.7 - ann [21/Nov/2026:09:11:33 +0000] "GET /a HTTP/1.1" 200 512 "-" "curl/8" 0.000153
  combined,
  /// One JSON object a line; members that have no value are left out.
  json,
};

struct access_log_options {
  log_format format = log_format::combined;
  std::size_t buffer = 256 << 10;       ///< bytes that wait for a descriptor that takes nothing; further lines are lost
  std::size_t longest_value = 2 << 10;  ///< bytes of a target or a field; the rest is "..."
};

/// Writes a log to a descriptor, of a file, pipe, socket or terminal, without ever waiting for it: lines are gathered, and
/// written at most once in a turn of the loop. When it takes nothing, lines are lost, and a line says later how many.
///
///   http::access_log log(STDOUT_FILENO);
///   options.observer = &log;
///
/// What comes from the client is escaped: it can make no line, and JSON stays valid. The user and the number of the request
/// are its attributes "user" and "request_id"; the time is that of the answer, in UTC.
/// Thread: belongs to the loop of the server that it observes. Several logs may write to one file that appends, or to one pipe:
/// there lines stay whole up to PIPE_BUF (4096 bytes); others may come between the parts of longer ones when it is full.
class GYRE_API access_log final : public exchange_observer {
 public:
  /// The descriptor stays the caller's; a pipe or terminal is opened a second time, so that it does not become
  /// non-blocking for others. Errors: io_error "open the access log: Bad file descriptor".
  explicit access_log(int descriptor, const access_log_options& options = {});
  access_log(const access_log&) = delete;
  access_log& operator=(const access_log&) = delete;
  /// Writes what is left, as far as the descriptor takes it.
  ~access_log() override;

  void answered(const exchange& what) noexcept override;

  /// Lines that were lost so far.
  [[nodiscard]] std::uint64_t lost() const noexcept;

 private:
  struct state;
  state* state_;
};

}  // namespace gyre::http
