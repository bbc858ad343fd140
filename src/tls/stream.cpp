// src/tls/stream.cpp: the public face of a connection, and its handshake.
#include <gyre/tls/stream.hpp>

#include "connection.hpp"
#include "session_facts.hpp"

#include <gyre/coro/misuse.hpp>
#include <gyre/tasks/timeout.hpp>

#include <memory>

namespace gyre::tls {
namespace {

task<stream> shake_hands(transport_owner below, context_reference settings, std::string host, std::string peer) {
  ssl_owner made = settings->make_connection(host);
  const auto limit = settings->handshake_limit();
  auto fresh = std::make_unique<connection>(std::move(below), std::move(settings), std::move(made), std::move(peer));
  if (!host.empty()) fresh->resume_with(std::move(host));
  co_await timeout(limit, fresh->shake_hands());
  co_return stream(*fresh.release());
}

}  // namespace

task<stream> handshake_as_server(transport_owner below, server_config config, std::string peer) {
  co_return co_await shake_hands(std::move(below), config.shared(), {}, std::move(peer));
}

task<stream> handshake_as_client(transport_owner below, client_config config, std::string host, std::string peer) {
  co_return co_await shake_hands(std::move(below), config.shared(), std::move(host), std::move(peer));
}

void stream::destroy(connection* connection) noexcept { delete connection; }

connection& stream::open(const char* operation) const {
  if (!*this) misuse("%s on a TLS stream that was moved from or made without a connection", operation);
  return *connection_;
}

GYRE_CORO_WRAPPER task<std::size_t> stream::read_some(std::span<std::byte> buffer) {
  return open("read_some").read_some(buffer);
}

GYRE_CORO_WRAPPER task<bool> stream::next_or_stop() { return open("next_or_stop").next_or_stop(); }

bool stream::has_ended() const noexcept { return open("has_ended").has_ended(); }

task<std::size_t> stream::read_exactly(std::span<std::byte> buffer) {
  connection& from = open("read_exactly");
  std::size_t done = 0;
  while (done < buffer.size()) {
    const std::size_t count = co_await from.read_some(buffer.subspan(done));
    if (count == 0) throw incomplete_transfer(stream_errc::end_of_stream, "read_exactly", from.peer(), done);
    done += count;
  }
  co_return done;
}

GYRE_CORO_WRAPPER task<std::size_t> stream::write_all(std::span<const std::byte> bytes) {
  return open("write_all").write_all(bytes);
}
GYRE_CORO_WRAPPER task<> stream::shutdown_write() { return open("shutdown_write").shutdown_write(); }

void stream::abort() noexcept {
  if (*this) connection_->abort();
}

address stream::peer_address() const { return open("peer_address").below().peer_address(); }
address stream::local_address() const { return open("local_address").below().local_address(); }
std::string_view stream::protocol() const noexcept { return protocol_of(open("protocol").protocol()); }
std::string_view stream::server_name() const noexcept { return name_asked_for(open("server_name").protocol()); }

version stream::protocol_version() const noexcept {
  return static_cast<version>(SSL_version(&open("protocol_version").protocol()));
}

std::string stream::peer_subject() const { return subject_of_peer(open("peer_subject").protocol()); }

bool stream::resumed() const noexcept { return SSL_session_reused(&open("resumed").protocol()) == 1; }

}  // namespace gyre::tls
