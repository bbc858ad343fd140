// src/net/ended_early.hpp: the errors that all operations of sockets share.
#pragma once

#include <gyre/coro/cancelled.hpp>
#include <gyre/io/request.hpp>
#include <gyre/loop/operation.hpp>

#include <cerrno>
#include <system_error>

namespace gyre {

inline std::error_code errno_code(int error) noexcept { return {error, std::generic_category()}; }

/// Of an operation that was cut short: by its scope, which throws, or by cancel_fd or its own time-out.
inline std::error_code ended_early(const operation_base& op) {
  if (op.scope_cancelled()) throw_cancelled();
  return std::make_error_code(std::errc::operation_canceled);
}

/// Ends a cancelled read. One that only `waited` for what arrives goes on at once; else its request `call` says when.
inline void end_cancelled(io::request& call, bool waited) noexcept {
  if (!waited)
    return event_loop::current().backend().cancel(call);  // no effect on what has ended and is about to say so
  call.result = -ECANCELED;
  event_loop::current().schedule(call);
}

}  // namespace gyre
