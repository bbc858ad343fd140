// src/client/body_copy.cpp: passes bodies on between a server and a client, if possible without copying them.
#include <gyre/coro/scope_exit.hpp>
#include <gyre/http/body_reader.hpp>
#include <gyre/http/body_writer.hpp>
#include <gyre/loop/as_expected.hpp>
#include <gyre/net/bulk.hpp>

#include "client_exchange.hpp"

#include <expected>

namespace gyre::http {

task<std::uint64_t> client_exchange::copy_to(body_writer& to) {
  const std::uint64_t before = received();
  to.send_head();  // the other side may have sent no more than its head so far
  while (!at_end()) {
    const std::string_view piece = co_await receive(~std::size_t{0});
    if (piece.empty()) break;
    const std::size_t size = piece.size();
    co_await to.write(piece);
    if (socket_state* const target = bulk_target(to, size)) co_await copy_bulk(*target, to, size);
  }
  co_return received() - before;
}

// Null when the bytes of the body have to be seen, here or by the writer, or when a piece of this size is no bulk.
socket_state* client_exchange::bulk_target(body_writer& to, std::size_t size) const noexcept {
  if (!socket_bulk::is_bulk(size) || decoder_ || !conn_ || !conn_->lends() || !input_.is_at_plain_bytes())
    return nullptr;
  return to.bulk_target();
}

// To the end of the body. The first piece has been written, and had this size.
task<> client_exchange::copy_bulk(socket_state& target, body_writer& to, std::size_t size) {
  socket_bulk bulk(conn_->socket().socket(), target);
  while (size > 0) {
    if (conn_ && input_.is_at_plain_bytes() && bulk.begins_with(size)) {
      input_.release_lease();
      while (!input_.at_end()) {
        const std::size_t moved = co_await receive_bulk(bulk);
        if (moved == 0) break;
        co_await to.write_bulk(bulk);
      }
    }
    const std::string_view piece = co_await receive_raw(~std::size_t{0});
    size = piece.size();
    if (size > 0) co_await to.write(piece);
  }
}

// Returns 0 when receive_raw() has to go on. The last piece stays in `bulk`, while the connection may serve others.
task<std::size_t> client_exchange::receive_bulk(socket_bulk& bulk) {
  std::expected<std::size_t, std::error_code> size;
  {
    const scope_exit stop_clock([this]() noexcept { clock_.end(); });  // also after a cancel, which loses nothing
    clock_.begin(phase::body, state_.options().timeouts.between_bytes, *conn_);
    if (clock_.expired())
      size = std::unexpected(time_limit_passed());
    else
      size = co_await as_expected(bulk.receive(input_.left()));
  }
  if (!size) {
    give_up_connection();
    fail(size.error());
  }
  input_.bypass(*size);
  if (input_.at_end()) finish_connection();
  co_return *size;
}

// Null when the bytes of the body have to be seen, here or by the source, or when a piece of this size is no bulk.
body_reader* client_exchange::bulk_body(std::size_t size) const noexcept {
  if (!socket_bulk::is_bulk(size) || early_ || !conn_->lends()) return nullptr;
  body_reader* const body = source->passes_on();
  return body != nullptr && body->bulk_source() != nullptr ? body : nullptr;
}

// To the end of the body, whose first piece has been sent and had this size. Returns false when the server takes no
// more.
task<bool> client_exchange::send_bulk(body_reader& from, std::size_t size, std::uint64_t& sent) {
  socket_bulk bulk(*from.bulk_source(), conn_->socket().socket());
  const scope_exit watched([&from]() noexcept { from.end_bulk(); });
  while (size > 0) {
    if (!early_ && from.bulk_source() != nullptr && bulk.begins_with(size)) {
      while (!from.at_end() && !early_) {
        clock_.begin_unlimited(phase::sending, *conn_);
        const std::size_t moved = co_await from.receive_bulk(bulk);
        if (moved == 0) break;
        count_sent(sent, moved);
        writes_bulk_ = true;
        begin_piece();
        const write_outcome written = co_await conn_->write(bulk);
        writes_bulk_ = false;
        if (!piece_ended(written, false)) co_return false;
      }
    } else {
      from.end_bulk();
    }
    const std::string_view piece = co_await next_piece();
    if (from.at_end()) from.end_bulk();
    count_sent(sent, piece.size());
    size = piece.size();
    if (size == 0) break;
    const bool goes_on = co_await send_piece(piece, {});
    if (!goes_on) co_return false;
  }
  co_return true;
}

}  // namespace gyre::http
