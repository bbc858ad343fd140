// src/client/sender_bulk.cpp: passes the body of a server's request on, if possible without copying it.
#include <gyre/coro/scope_exit.hpp>
#include <gyre/http/body_reader.hpp>
#include <gyre/net/bulk.hpp>

#include "request_sender.hpp"

namespace gyre::http {

// Null when the bytes of the body have to be seen, here or by the source, or when a piece of this size is no bulk.
body_reader* request_sender::bulk_body(std::size_t size) const noexcept {
  if (!socket_bulk::is_bulk(size) || early_ || channel_.bulk_target() == nullptr) return nullptr;
  body_reader* const body = body_.source->passes_on();
  return body != nullptr && body->bulk_socket() != nullptr ? body : nullptr;
}

// To the end of the body, whose first piece has been sent and had this size. Returns false when the server takes no
// more.
task<bool> request_sender::send_bulk(body_reader& from, std::size_t size) {
  socket_bulk bulk(*from.bulk_socket(), *channel_.bulk_target());
  const scope_exit watched([&from]() noexcept { from.end_bulk(); });
  while (size > 0) {
    if (!early_ && from.bulk_socket() != nullptr && bulk.begins_with(size)) {
      while (!from.at_end() && !early_) {
        clock_.begin_unlimited(phase::sending);
        const std::size_t moved = co_await from.receive_bulk(bulk);
        if (moved == 0) break;
        count(moved);
        writes_bulk_ = true;
        begin_piece();
        const write_outcome written = co_await channel_.send_bulk(bulk);
        writes_bulk_ = false;
        if (!piece_ended(written, false)) co_return false;
      }
    } else {
      from.end_bulk();
    }
    const std::string_view piece = co_await next_piece();
    if (from.at_end()) from.end_bulk();
    count(piece.size());
    size = piece.size();
    if (size == 0) break;
    const bool goes_on = co_await send_piece(piece);
    if (!goes_on) co_return false;
  }
  co_return true;
}

}  // namespace gyre::http
