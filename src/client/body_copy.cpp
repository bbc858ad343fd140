// src/client/body_copy.cpp: passes the body of a response on to a client, if possible without copying it.
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
socket_state* client_exchange::bulk_target(body_writer& to, std::size_t size) noexcept {
  if (!socket_bulk::is_bulk(size) || decoded_ || sends_ || channel_.bulk_source() == nullptr) return nullptr;
  return to.bulk_socket();
}

// To the end of the body. The first piece has been written, and had this size.
task<> client_exchange::copy_bulk(socket_state& target, body_writer& to, std::size_t size) {
  socket_bulk bulk(*channel_.bulk_source(), target);
  while (size > 0) {
    if (channel_.bulk_source() != nullptr && bulk.begins_with(size)) {
      channel_.release_buffer();
      while (!channel_.at_end()) {
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
    clock_.begin(phase::body, state_.options().timeouts.between_bytes);
    if (clock_.expired())
      size = std::unexpected(time_limit_passed());
    else
      size = co_await as_expected(bulk.receive(channel_.left()));
  }
  if (!size) {
    give_up_connection();
    fail(size.error());
  }
  channel_.bypass(*size);
  if (channel_.at_end()) finish_connection();
  co_return *size;
}

}  // namespace gyre::http
