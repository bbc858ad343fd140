// src/client/outgoing_body.hpp: a request's body that is made while it is sent.
#pragma once

#include <gyre/client/request_body.hpp>

#include <cstdint>
#include <optional>

namespace gyre::http {

struct outgoing_body {
  request_body_owner source;            // null for a body that is a text
  std::optional<std::uint64_t> length;  // nothing: in chunks
  bool used = false;                    // the source has been asked for pieces

  void drop() noexcept {
    source.reset();
    length.reset();
    used = false;
  }
  /// Begins again for another attempt. Returns false when the body can be read only once.
  [[nodiscard]] bool rewind() {
    if (source && used) used = !source->rewind();
    return !used;
  }
};

}  // namespace gyre::http
