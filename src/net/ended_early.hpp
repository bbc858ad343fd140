// src/net/ended_early.hpp: errors that all socket operations share.
#pragma once

#include <gyre/coro/cancelled.hpp>
#include <gyre/io/request.hpp>
#include <gyre/loop/operation.hpp>

#include <cerrno>
#include <system_error>

namespace gyre {

inline std::error_code errno_code(int error) noexcept { return {error, std::generic_category()}; }

/// The error of an operation that was cut short: throws if its scope was cancelled. Otherwise cancel() of its socket or
/// its own time-out ended it.
inline std::error_code ended_early(const operation_base& op) {
  if (op.scope_cancelled()) throw_cancelled();
  return std::make_error_code(std::errc::operation_canceled);
}

/// Ends a cancelled read. A read that only `waited` for arriving data resumes at once. Otherwise it
/// resumes when its request `call` ends.
inline void end_cancelled(io::request& call, bool waited) noexcept {
  if (!waited) return event_loop::current().backend().cancel(call);  // no effect if it has ended but not reported it
  call.result = -ECANCELED;
  event_loop::current().schedule(call);
}

}  // namespace gyre
