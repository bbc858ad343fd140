// src/client/write_outcome.hpp: how a write to a server has ended.
#pragma once

#include <system_error>

namespace gyre::http {

struct write_outcome {
  std::error_code error = {};
  bool nothing_written = false;  // known only for plain sockets
};

}  // namespace gyre::http
