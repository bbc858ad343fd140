// gyre/tls/stream.hpp: an encrypted byte stream over another byte stream.
#pragma once

#include <gyre/attributes.hpp>
#include <gyre/coro/owned.hpp>
#include <gyre/coro/task.hpp>
#include <gyre/net/address.hpp>
#include <gyre/stream/byte_stream.hpp>
#include <gyre/tls/client_config.hpp>
#include <gyre/tls/server_config.hpp>
#include <gyre/tls/transport.hpp>
#include <gyre/tls/version.hpp>

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace gyre::tls {

class connection;

/// A TLS connection after its handshake. The destructor closes the transport without close_notify, which the peer sees
/// as a truncation; end an orderly connection with shutdown_write() or close().
///
/// A stream may be read and written at the same time. An idle connection holds no receive buffer.
/// Thread: that of the transport. Overlap: one reader and any number of writers at a time; whole writes never
/// interleave.
class GYRE_API stream {
 public:
  stream() noexcept = default;

  /// Reads the bytes that have arrived, at least one. Returns the count, or 0 when the peer has ended its data with
  /// close_notify.
  ///
  /// Lifetime: `buffer` stays valid until the await returns. Cancel: nothing was taken.
  /// Errors: tls_error truncated when the connection ends without close_notify; bad_record; those of the transport.
  [[nodiscard]] GYRE_CORO_WRAPPER task<std::size_t> read_some(std::span<std::byte> buffer);
  [[nodiscard]] GYRE_CORO_WRAPPER task<std::size_t> read_some(std::span<char> buffer) {
    return read_some(std::as_writable_bytes(buffer));
  }

  /// Fills the whole buffer. Returns its size.
  ///
  /// Lifetime: same as read_some. Cancel: the bytes that were read already are lost; the stream goes on after them.
  /// Errors: incomplete_transfer when the data ends first; those of read_some.
  [[nodiscard]] task<std::size_t> read_exactly(std::span<std::byte> buffer);
  [[nodiscard]] GYRE_CORO_WRAPPER task<std::size_t> read_exactly(std::span<char> buffer) {
    return read_exactly(std::as_writable_bytes(buffer));
  }

  /// Waits between two messages, for the next one or for the request to stop. Returns true when there are bytes to
  /// read, also after the request; false when the peer has ended its data, and when the program has been asked to stop
  /// and nothing has arrived. Then shutdown_write() tells the peer that nothing is missing.
  ///
  /// Cancel: nothing was taken. Errors: same as read_some.
  [[nodiscard]] GYRE_CORO_WRAPPER task<bool> next_or_stop();

  /// After next_or_stop() has returned false: true when the peer has ended its data, rather than the request to stop
  /// has come.
  [[nodiscard]] bool has_ended() const noexcept;

  /// Writes all bytes. Returns their number. The first 64 KiB leave in small records, so that the peer can begin early.
  ///
  /// Lifetime: `bytes` stay valid until the await returns.
  /// Cancel: nothing was written, or the write was cut off: the stream accepts no more writes
  /// (stream_errc::write_cut_off), because a part of a record cannot be taken back. Errors: same as the transport.
  [[nodiscard]] GYRE_CORO_WRAPPER task<std::size_t> write_all(std::span<const std::byte> bytes);
  [[nodiscard]] GYRE_CORO_WRAPPER task<std::size_t> write_all(std::string_view text) {
    return write_all(std::as_bytes(std::span(text)));
  }

  /// Sends close_notify, after all earlier writes: the peer sees the end of the data. Reading continues.
  ///
  /// Cancel: same as write_all. Errors: same as the transport.
  [[nodiscard]] GYRE_CORO_WRAPPER task<> shutdown_write();

  /// Ends the connection at once, without close_notify. No-op for a transport without abort().
  void abort() noexcept;

  /// The addresses of the connection below; empty when it has none, as over memory or a Unix socket.
  [[nodiscard]] address peer_address() const;
  [[nodiscard]] address local_address() const;
  /// The protocol that was agreed upon (ALPN); empty when there is none.
  [[nodiscard]] std::string_view protocol() const noexcept;
  /// The name that the client has asked for (SNI); empty when there is none.
  [[nodiscard]] std::string_view server_name() const noexcept;
  [[nodiscard]] version protocol_version() const noexcept;
  /// The subject of the peer's certificate, "CN=client 7"; empty when it has sent none. It was verified, unless the
  /// configuration says insecure_skip_verify.
  [[nodiscard]] std::string peer_subject() const;
  /// True when the handshake continued an earlier session.
  [[nodiscard]] bool resumed() const noexcept;

  /// False for a stream that was moved from or made without a connection.
  [[nodiscard]] explicit operator bool() const noexcept { return connection_.get() != nullptr; }

  /// For accept() and connect().
  explicit stream(connection& made) noexcept : connection_(made) {}

 private:
  static void destroy(connection* connection) noexcept;
  [[nodiscard]] connection& open(const char* operation) const;

  owned<connection*, &destroy> connection_;
};

static_assert(half_closable_stream<stream>);
static_assert(abortable_stream<stream>);

/// For tls::accept: does the handshake of a server. `peer` names the other side in errors. Cancel: same as accept().
[[nodiscard]] GYRE_API task<stream> handshake_as_server(transport_owner below, server_config config, std::string peer);
/// For tls::connect: does the handshake of a client for `host`. Cancel: same as connect().
[[nodiscard]] GYRE_API task<stream> handshake_as_client(transport_owner below, client_config config, std::string host,
                                                        std::string peer);

/// Does the handshake of a server over `below`, a connected stream, and takes it over.
///
/// Cancel: the connection is closed. Errors: tls_error handshake_failed, peer_rejected, certificate_rejected; timed_out
/// after the handshake_limit; those of the transport.
template <byte_stream S>
[[nodiscard]] GYRE_CORO_WRAPPER task<stream> accept(S below, const server_config& config) {
  std::string peer = peer_of(below);
  return handshake_as_server(make_transport(std::move(below)), config, std::move(peer));
}

/// Does the handshake of a client over `below`, and verifies that the peer is `host`, a host name or an IP address.
///
/// Cancel: the connection is closed. Errors: tls_error certificate_rejected, handshake_failed; timed_out after the
/// handshake_limit; those of the transport.
template <byte_stream S>
[[nodiscard]] GYRE_CORO_WRAPPER task<stream> connect(S below, std::string host, const client_config& config) {
  std::string peer = host;
  return handshake_as_client(make_transport(std::move(below)), config, std::move(host), std::move(peer));
}

}  // namespace gyre::tls
