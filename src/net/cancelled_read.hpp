// src/net/cancelled_read.hpp: the end of a cancelled read.
#pragma once

#include <gyre/loop/operation.hpp>

#include <cerrno>

namespace gyre {

/// Ends a cancelled read. A read that only `waited` for arriving data resumes at once. Otherwise it
/// resumes when its request `call` ends.
inline void end_cancelled(io::request& call, bool waited) noexcept {
  if (!waited) return event_loop::current().backend().cancel(call);  // no effect if it has ended but not reported it
  call.result = -ECANCELED;
  event_loop::current().schedule(call);
}

}  // namespace gyre
