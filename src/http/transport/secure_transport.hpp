// src/http/transport/secure_transport.hpp: an encrypted connection that carries HTTP.
#pragma once

#include <gyre/net/secure_session.hpp>
#include <gyre/net/socket_stream.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "cipher_buffers.hpp"
#include "encryption_resources.hpp"
#include "transfer_deadline.hpp"
#include "transport.hpp"

namespace gyre::http {

/// Lives as long as its connection. While that is idle, it holds no buffer, except for those of its session (see
/// busy_sessions). For a large file, the kernel takes over the encryption of what is sent, if it can, and keeps it.
///
/// Encrypted bytes leave in the order in which they were made: they are appended to `unsent_`, and go from there to the
/// socket, which keeps the order of its writes.
class secure_transport final : public transport {
 public:
  /// The meaning of the bytes that have arrived.
  enum class arrival : std::uint8_t {
    nothing,  // the peer has more to send first
    bytes,    // decrypted() has them
    ended,    // the peer sends nothing more, or has failed
  };

  /// Lifetime: both must outlive this.
  secure_transport(encryption_resources& shared, socket_stream& stream) noexcept
      : shared_(shared), stream_(stream), receiving_(stream) {}
  secure_transport(const secure_transport&) = delete;
  secure_transport& operator=(const secure_transport&) = delete;
  ~secure_transport() override { give_back_piece(); }

  // ---- For a connection that is idle, and so without a coroutine.

  /// Decrypts what has arrived, or goes on with the handshake. Sends what the socket takes at once. `received` is empty
  /// when an earlier call has left bytes behind. Errors: std::bad_alloc, those of secure_sessions::begin.
  [[nodiscard]] arrival arrived(buffer_lease received);
  /// Lifetime: until another connection of this loop calls arrived(), or the next transfer.
  [[nodiscard]] std::string_view decrypted() const noexcept { return decrypted_; }
  /// True when arrived() has something to do without further bytes of the socket.
  [[nodiscard]] bool has_buffered() const noexcept;
  /// True when the peer waits for bytes that the socket has not taken yet: write() sends them.
  [[nodiscard]] bool has_unsent() const noexcept { return !unsent_.empty(); }
  [[nodiscard]] bool in_handshake() const noexcept { return !session_ || session_->in_handshake(); }
  /// True after the first bytes of the peer.
  [[nodiscard]] bool has_begun() const noexcept { return session_ != nullptr; }
  /// Why the session has failed, for people; empty when it has not.
  [[nodiscard]] std::string failure() const { return session_ ? session_->failure() : std::string(); }
  /// Whether the session keeps its buffers between requests. It has begun.
  void keep_buffers(bool keep) noexcept { session_->keep_buffers(keep); }
  /// Ends the use of the bytes that receive() has returned.
  void give_back_piece() noexcept;
  /// Tells the peer that the connection ends in order, if the socket takes that at once.
  void say_goodbye() noexcept;

  /// Lifetime: the bytes are valid until the next call, or give_back_piece().
  task<std::error_code> receive(buffer_lease& into, std::chrono::nanoseconds limit) override;
  task<std::error_code> write(std::string_view first, std::string_view second, std::chrono::nanoseconds limit) override;
  task<send_file_result> send_file(int file, std::uint64_t offset, std::size_t count,
                                   std::chrono::nanoseconds limit) override;
  std::ptrdiff_t write_now(std::string_view bytes, write_hint hint) noexcept override;
  [[nodiscard]] bool writes_now() const noexcept override { return true; }
  task<> shutdown_write() override;
  [[nodiscard]] bool has_to_shut_down() const noexcept override { return in_kernel_; }
  void reset_at_end() noexcept override {
    cut_off_ = true;
    stream_.socket().reset_at_close();
  }
  void interrupt() noexcept override { stream_.cancel(); }
  [[nodiscard]] bool is_broken() const noexcept override { return error_ || stream_.socket().received.end() < 0; }
  void watch_end(end_watch* watch) noexcept override { stream_.socket().watch_end(watch); }
  [[nodiscard]] const secure_session* security() const noexcept override { return session_.get(); }

 private:
  secure_session::progress decrypt(std::span<std::byte> to);
  [[nodiscard]] bool encrypt(std::string_view bytes);
  [[nodiscard]] std::string_view without_held(std::string_view bytes) noexcept;
  [[nodiscard]] bool push(bool more) noexcept;
  void keep_buffer() noexcept;
  task<bool> flush();
  task<bool> say_goodbye_in_kernel(std::chrono::nanoseconds limit);
  task<send_file_result> encrypt_file(int file, std::uint64_t offset, std::size_t count, const send_deadline& waiting);
  void fail(std::error_code reason) noexcept {
    if (!error_) error_ = reason;
  }
  [[nodiscard]] std::error_code outcome_of(bool written, const send_deadline& waiting) const noexcept;

  encryption_resources& shared_;
  socket_stream& stream_;
  secure_session_owner session_;  // begins with the first bytes
  buffer_lease input_;            // encrypted bytes that were not used yet
  std::string unsent_;
  std::string_view decrypted_;
  cipher_buffers::plain_block piece_;  // the bytes that receive() has returned
  receive_deadline receiving_;
  std::uint64_t taken_ = 0;  // see send_deadline
  // The last byte that write_now() was given is encrypted already, although write_now() has not counted it. So its
  // caller comes again with this byte, after which nothing is unsent.
  bool holds_byte_ = false;
  bool input_ended_ = false;
  std::error_code error_;   // nothing more is sent
  bool cut_off_ = false;    // the peer must not take the end for a complete one
  bool in_kernel_ = false;  // `unsent_` is not encrypted yet
};

}  // namespace gyre::http
