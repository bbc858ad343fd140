// src/http/exchange/end_source.hpp: the interface that reports the end of what a client sends.
#pragma once

#include <gyre/net/socket_state.hpp>

namespace gyre::http {

/// The end of a connection of HTTP/1, or of a stream of HTTP/2, which its client can reset alone.
class end_source {
 public:
  /// Notifies `watch` when the client leaves while nothing is being received; null ends that. A source that cannot
  /// notice it never notifies.
  virtual void watch_end(end_watch* watch) noexcept = 0;
  /// For a client whose end has been seen: true if it is known to take nothing any more either.
  [[nodiscard]] virtual bool is_broken() const noexcept = 0;

 protected:
  ~end_source() = default;
};

}  // namespace gyre::http
