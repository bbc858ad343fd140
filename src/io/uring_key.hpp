// src/io/uring_key.hpp: how a completion finds its request, and the backend's state in a request.
#pragma once

#include <gyre/io/request.hpp>

#include <cstdint>

namespace gyre::io {

/// Keys that belong to no request: completions to ignore, and the poll of the doorbell. Requests have larger addresses.
inline constexpr std::uint64_t key_ignored = 8;
inline constexpr std::uint64_t key_doorbell = 16;
inline constexpr std::uint64_t key_largest_of_nobody = 63;

/// The key of a request is its address. The low bits mark a request with many results, or a cancel of it.
inline constexpr std::uint64_t key_multishot = 1;
inline constexpr std::uint64_t key_cancel = 2;
inline constexpr std::uint64_t key_mask = 7;
static_assert(alignof(request) > key_mask);

/// request::backend_state
enum : std::uint8_t {
  state_cancel_unanswered = 1,     ///< the answer will name the request, so it must not be handed out before
  state_ended = 2,                 ///< the last completion has come, and `result` has its value
  state_starved = 4,               ///< not in the kernel: waits for a buffer
  state_offloaded = 8,             ///< not in the kernel: a thread of the pool performs it
  state_may_have_missed_end = 16,  ///< see io/missed_end.hpp
  state_cancel_failed = 32,        ///< a cancel was answered, but the request has not ended
  state_in_hand = 64,              ///< not in the kernel: the backend is receiving for it
  state_one_buffer = 128,          ///< a receive_many that gives one result, because the pool fills up
};

[[nodiscard]] inline std::uint64_t key_of(const request& r) noexcept {
  return reinterpret_cast<std::uintptr_t>(&r) | (is_multishot(r.code) || r.code == opcode::raw ? key_multishot : 0);
}
[[nodiscard]] inline request* request_of(std::uint64_t key) noexcept {
  // NOLINTNEXTLINE(performance-no-int-to-ptr): the kernel keeps it as a number
  return reinterpret_cast<request*>(key & ~key_mask);
}

}  // namespace gyre::io
