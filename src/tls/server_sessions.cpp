// src/tls/server_sessions.cpp: TLS as a server of another protocol sees it.
#include <gyre/io/printable.hpp>
#include <gyre/tls/server_sessions.hpp>

#include "context.hpp"
#include "engine.hpp"
#include "session_facts.hpp"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

namespace gyre::tls {
namespace {

class server_session final : public secure_session {
 public:
  explicit server_session(context_reference settings)
      : settings_(std::move(settings)), engine_(settings_->make_connection({})) {}

  progress decrypt(buffer_lease& in, bool in_is_last, std::span<std::byte> to, std::string& out) override {
    if (!engine_.shook_hands()) {
      engine::outcome result = engine_.handshake({in, in_is_last}, out);
      if (result.what != engine::outcome::done) return progress_of(std::move(result));
    }
    return progress_of(engine_.decrypt(to, {in, in_is_last}, out));
  }
  bool encrypt(std::span<const std::byte> bytes, std::string& out) override {
    engine::outcome result = engine_.encrypt(bytes, out);
    return result.what == engine::outcome::done || progress_of(std::move(result)).what != state::failed;
  }
  bool prepare_kernel(std::string_view last) noexcept override { return engine_.prepare_kernel(last); }
  bool move_to_kernel(int socket) noexcept override { return engine_.move_to_kernel(socket); }
  void keep_buffers(bool keep) noexcept override { engine_.keep_buffers(keep); }
  void finish(std::string& out) noexcept override {
    if (std::exchange(finished_, true) || !engine_.shook_hands()) return;
    engine_.say_goodbye(out);
  }

  [[nodiscard]] bool in_handshake() const noexcept override { return !engine_.shook_hands(); }
  [[nodiscard]] bool has_decrypted() const noexcept override { return engine_.has_decrypted(); }
  [[nodiscard]] std::string peer_name() const override { return subject_of_peer(engine_.connection()); }
  [[nodiscard]] std::string_view server_name() const noexcept override { return name_asked_for(engine_.connection()); }
  [[nodiscard]] std::string_view protocol() const noexcept override { return protocol_of(engine_.connection()); }
  [[nodiscard]] std::string failure() const override { return failure_; }

 private:
  progress progress_of(engine::outcome&& result) {
    switch (result.what) {
      case engine::outcome::done:
        return {.what = state::bytes, .count = result.count};
      case engine::outcome::wants_input:
        return {.what = state::wants_input};
      case engine::outcome::ended:
        return {.what = state::ended};
      case engine::outcome::failed:
        break;
    }
    if (result.error == tls_errc::truncated) return {.what = state::ended};
    failure_ = make_error_code(result.error).message();
    if (!result.reason.empty()) (failure_ += ": ") += result.reason;
    return {.what = state::failed};
  }

  context_reference settings_;  // the callbacks of OpenSSL use it
  engine engine_;
  std::string failure_;
  bool finished_ = false;
};

// Client and server agree on a protocol, and the client would then not understand another one.
void check_protocols(const server_config& config, std::span<const std::string_view> spoken) {
  for (const std::string& each : config.protocols())
    if (std::ranges::find(spoken, each) == spoken.end())
      throw std::invalid_argument("tls::server_sessions: the configuration offers the protocol \"" + printable(each) +
                                  "\", which the server does not speak; offer only \"" + std::string(spoken.front()) +
                                  "\"");
}

}  // namespace

class [[gnu::visibility("hidden")]] server_sessions::state final : public secure_sessions {
 public:
  explicit state(server_config config) noexcept : config_(std::move(config)) {}

  [[nodiscard]] secure_session_owner begin() override {
    const server_config now = config();
    return secure_session_owner(new server_session(now.shared()));
  }
  void expect_protocols(std::span<const std::string_view> spoken) override {
    const std::lock_guard lock(mutex_);
    check_protocols(config_, spoken);
    spoken_ = spoken;
  }
  void add_reference() noexcept override { references_.fetch_add(1, std::memory_order_relaxed); }
  void release() noexcept override {
    if (references_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }

  void set_config(server_config& next) {
    const std::lock_guard lock(mutex_);
    if (!spoken_.empty()) check_protocols(next, spoken_);
    std::swap(config_, next);
  }
  [[nodiscard]] server_config config() const noexcept {
    const std::lock_guard lock(mutex_);
    return config_;
  }

 private:
  std::atomic<int> references_ = 1;
  mutable std::mutex mutex_;
  server_config config_;
  std::span<const std::string_view> spoken_;  // by the server; empty before there is one
};

server_sessions::server_sessions(server_config config) : shared_(*new state(std::move(config))) {}
server_sessions::state& server_sessions::shared() const noexcept { return static_cast<state&>(*shared_.operator->()); }

// The former configuration is destroyed here, outside of the lock.
void server_sessions::set_config(server_config next) { shared().set_config(next); }
server_config server_sessions::config() const noexcept { return shared().config(); }

}  // namespace gyre::tls
