// src/client/copy_body.hpp: passes a body on, if possible without copying it.
#pragma once

#include <gyre/coro/scope_exit.hpp>
#include <gyre/coro/task.hpp>
#include <gyre/net/bulk.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace gyre::http {

/// Passes the rest of a body on, and returns the number of its bytes. `From` is read like a body_reader, `To` is
/// written like a body_writer; it may also report by is_cut_off() that it takes no more, which ends the copy.
///
/// A piece of bulk is moved from socket to socket while both sides have one to offer.
///
/// Lifetime: both outlive the await. Cancel: bytes that were received and not written are lost. Errors: the exceptions
/// of both.
template <class From, class To>
[[nodiscard]] task<std::uint64_t> copy_body(From& from, To& to) {
  const std::uint64_t before = from.received();
  std::optional<socket_bulk> bulk;
  const scope_exit watched([&from]() noexcept { from.end_bulk(); });
  to.send_head();  // the other side may have sent no more than its head so far
  while (!from.at_end() && !to.is_cut_off()) {
    const std::string_view piece = co_await from.receive();
    if (piece.empty()) break;
    if (from.at_end()) from.end_bulk();
    const std::size_t size = piece.size();
    co_await to.write(piece);
    if (!bulk && !socket_bulk::is_bulk(size)) continue;
    socket_state* const source = from.bulk_socket();
    socket_state* const target = to.bulk_socket();
    if (!bulk && source != nullptr && target != nullptr) bulk.emplace(*source, *target);
    if (!bulk) continue;
    if (source == nullptr || target == nullptr || !bulk->begins_with(size)) {
      from.end_bulk();
      continue;
    }
    while (!from.at_end() && to.bulk_socket() != nullptr) {
      const std::size_t moved = co_await from.receive_bulk(*bulk);
      if (moved == 0) break;
      co_await to.write_bulk(*bulk);
    }
  }
  co_return from.received() - before;
}

}  // namespace gyre::http
