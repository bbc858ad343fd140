// programs/resp_server/unfinished_command.hpp: a command over many keys, done in steps.
#pragma once

#include "programs/resp_server/keyspace.hpp"
#include "programs/resp_server/reply_buffer.hpp"

#include <cstddef>

namespace resp {

/// The rest of a command whose work grows with the number of keys. The server does one step of it at a time, and lets other
/// clients run in between.
class unfinished_command {
 public:
  /// Units of work of one step, of a few nanoseconds each: the loop runs up to 128 steps before it looks for what clients
  /// have sent. An entry costs several, a byte to compare at least one.
  static constexpr std::size_t budget = 2000;

  unfinished_command() noexcept = default;
  unfinished_command(const unfinished_command&) = delete;
  unfinished_command& operator=(const unfinished_command&) = delete;
  virtual ~unfinished_command() = default;

  /// Goes on for about `budget` units. True when the command is done.
  virtual bool step(keyspace& keys, unix_ms now, reply_buffer& reply) = 0;
};

}  // namespace resp
