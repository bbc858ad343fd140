// gyre/http/status_error.hpp: an error that is answered with a status.
#pragma once

#include <gyre/attributes.hpp>

#include <stdexcept>
#include <string>

namespace gyre::http {

/// Thrown by a handler, or by a function it awaits. The client gets this status, and the message as text. Any other
/// exception is answered with 500 and reveals nothing about the cause.
///
///   throw http::status_error(404, "no such user");
class GYRE_API status_error : public std::runtime_error {
 public:
  explicit status_error(int status, const std::string& message = {});
  ~status_error() override;

  /// 200 to 999. An invalid status becomes 500.
  [[nodiscard]] int status() const noexcept { return status_; }

 private:
  int status_;
};

}  // namespace gyre::http
