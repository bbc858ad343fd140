// src/tls/connection.hpp: a TLS connection over a transport.
#pragma once

#include "context.hpp"
#include "engine.hpp"

#include <gyre/coro/task.hpp>
#include <gyre/loop/owner_loop.hpp>
#include <gyre/sync/mutex.hpp>
#include <gyre/tls/stream.hpp>
#include <gyre/tls/transport.hpp>

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <utility>

namespace gyre::tls {

/// Encrypted bytes leave in the order in which they were made, because the peer decrypts them by their number. So all
/// are appended to `unsent_`, and one task at a time sends what is there.
class connection {
 public:
  connection(transport_owner below, context_reference settings, ssl_owner made, std::string peer)
      : settings_(std::move(settings)),
        transport_(std::move(below)),
        engine_(std::move(made)),
        peer_(std::move(peer)) {}
  connection& operator=(connection&&) = delete;
  ~connection();

  /// For a client, before the handshake: resumes a session with the same peer, `host`, if it can.
  void resume_with(std::string host) {
    origin_ = std::move(host) + ' ' + peer_;
    settings_->resume(protocol(), origin_);
  }
  task<> shake_hands();
  task<std::size_t> read_some(std::span<std::byte> buffer);
  task<bool> next_or_stop();
  [[nodiscard]] bool has_ended() const noexcept { return !ahead_ && engine_.has_ended(); }
  task<std::size_t> write_all(std::span<const std::byte> bytes);
  task<> shutdown_write();
  void abort() noexcept {
    owner_.check("abort");
    transport_->abort();
  }

  [[nodiscard]] const transport& below() const noexcept { return *transport_; }
  [[nodiscard]] SSL& protocol() const noexcept { return engine_.connection(); }
  [[nodiscard]] const std::string& peer() const noexcept { return peer_; }

 private:
  task<engine::outcome> handshake_step();
  task<> flush(const char* operation);
  task<> send_if_possible(const char* operation);
  void send_now() noexcept;
  task<> wait_for_input();
  void begin_reading(const char* operation);
  [[nodiscard]] std::size_t decrypt_rest(std::span<std::byte> buffer);
  [[nodiscard]] bool may_send_later() const noexcept;
  void encrypt(std::span<const std::byte> bytes);
  void expect_writable(const char* operation) const;
  [[noreturn]] void fail(const engine::outcome& failure, const char* operation) const;
  [[nodiscard]] engine::input input() noexcept { return {input_, input_ended_}; }

  context_reference settings_;  // the callbacks of OpenSSL use it
  transport_owner transport_;
  std::string origin_;  // of a client; OpenSSL uses it
  engine engine_;
  std::string peer_;
  buffer_lease input_;
  std::optional<std::byte> ahead_;  // decrypted by next_or_stop, and not read yet
  std::string unsent_;
  mutex writing_;  // held for a whole write
  mutex sending_;  // held while the transport writes
  int users_ = 0;  // operations in progress
  owner_loop_of<"a TLS stream"> owner_;
  bool reading_ = false;
  bool input_ended_ = false;
  bool cut_off_ = false;
  bool said_goodbye_ = false;
};

}  // namespace gyre::tls
