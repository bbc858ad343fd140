// src/tls/connection.cpp: the coroutines of a TLS connection.
#include "connection.hpp"

#include "cipher_buffers.hpp"

#include <gyre/coro/misuse.hpp>
#include <gyre/coro/scope_exit.hpp>
#include <gyre/loop/loop_local.hpp>
#include <gyre/loop/yield.hpp>
#include <gyre/sync/mutex.hpp>

#include <algorithm>
#include <utility>

namespace gyre::tls {
namespace {

constexpr std::size_t max_at_once = std::size_t{64} << 10U;  // encrypted before it is sent

/// Marks the stream as cut off, unless the whole has been written.
class part_of_write {
 public:
  explicit part_of_write(bool& cut_off) noexcept : cut_off_(cut_off) {}
  part_of_write& operator=(part_of_write&&) = delete;
  ~part_of_write() { cut_off_ = cut_off_ || !whole_; }
  void is_whole() noexcept { whole_ = true; }

 private:
  bool& cut_off_;
  bool whole_ = false;
};

}  // namespace

connection::~connection() {
  if (users_ > 0)
    misuse("a TLS stream was destroyed while another task reads from it or writes to it: cancel and await it first");
}

void connection::fail(const engine::outcome& failure, const char* operation) const {
  throw tls_error(failure.error, operation, peer_, failure.reason);
}

// A step takes 100 µs and more. So those of a loop go one after the other, a few in each turn.
task<engine::outcome> connection::handshake_step() {
  struct steps {
    mutex one_at_a_time;
    unsigned done = 0;
  };
  constexpr unsigned max_in_turn = 4;
  static const loop_local<steps> of_loops;
  steps& here = of_loops.get();
  const auto alone = co_await here.one_at_a_time.scoped_lock();
  const engine::outcome result = engine_.handshake(input(), unsent_);
  if (++here.done % max_in_turn == 0) co_await yield_turn();
  co_return result;
}

task<> connection::shake_hands() {
  owner_.check("handshake");  // from here on it belongs to this loop
  const scope_count user(users_);
  for (;;) {
    const engine::outcome result = co_await handshake_step();
    if (result.what == engine::outcome::failed || result.what == engine::outcome::ended) {
      co_await send_if_possible("tls handshake");
      fail(result, "tls handshake");
    }
    const bool done = result.what == engine::outcome::done;
    if (!done || !may_send_later()) co_await flush("tls handshake");
    if (done) co_return;
    co_await wait_for_input();
  }
}

// In TLS 1.3, a server has only tickets left, for which nobody waits. If a request has come already, they leave
// together with the answer.
bool connection::may_send_later() const noexcept {
  return !input_.empty() && SSL_is_server(&protocol()) == 1 && SSL_version(&protocol()) >= TLS1_3_VERSION;
}

// For alerts. A peer that takes nothing any more may have caused the failure that the alert is about.
task<> connection::send_if_possible(const char* operation) {
  if (unsent_.empty() || cut_off_) co_return;
  try {
    co_await flush(operation);
  } catch (const io_error&) {  // the next write fails too
  }
}

// For tickets, which a read finds. The rest of them leaves with the next write: a read that waited to send, and was
// cancelled, would cut off the writing side.
void connection::send_now() noexcept {
  if (unsent_.empty() || cut_off_ || sending_.is_locked()) return;
  const std::ptrdiff_t sent = transport_->write_now(unsent_);
  if (sent > 0) unsent_.erase(0, static_cast<std::size_t>(sent));
}

// The lease is given back before the wait: an idle connection holds none.
task<> connection::wait_for_input() {
  input_.release();
  input_ = co_await transport_->receive();
  if (input_.empty()) input_ended_ = true;
}

void connection::begin_reading(const char* operation) {
  owner_.check(operation);
  if (std::exchange(reading_, true)) misuse("two tasks read from one TLS stream at the same time: let one task read");
}

task<std::size_t> connection::read_some(std::span<std::byte> buffer) {
  begin_reading("read_some");
  const scope_exit done_reading([this] { reading_ = false; });
  const scope_count user(users_);
  if (buffer.empty()) co_return std::size_t{0};
  if (ahead_) {
    buffer.front() = *ahead_;
    ahead_.reset();
    co_return 1 + decrypt_rest(buffer.subspan(1));
  }
  for (;;) {
    const engine::outcome result = engine_.decrypt(buffer, input(), unsent_);
    if (result.what == engine::outcome::done) co_return result.count;
    if (result.what == engine::outcome::ended) co_return std::size_t{0};
    if (result.what == engine::outcome::failed) {
      co_await send_if_possible("read_some");
      fail(result, "read_some");
    }
    send_now();
    co_await wait_for_input();
  }
}

// Without waiting. The engine tells an end or a failure again, to the next read.
std::size_t connection::decrypt_rest(std::span<std::byte> buffer) {
  if (buffer.empty()) return 0;
  const engine::outcome rest = engine_.decrypt(buffer, input(), unsent_);
  return rest.what == engine::outcome::done ? rest.count : 0;
}

// Only a decrypted byte shows that a message has begun: records also carry tickets. A record of which a part has
// arrived is waited for, because it may be the beginning of a message.
task<bool> connection::next_or_stop() {
  begin_reading("next_or_stop");
  const scope_exit done_reading([this] { reading_ = false; });
  const scope_count user(users_);
  while (!ahead_) {
    std::byte first{};
    const engine::outcome result = engine_.decrypt(std::span(&first, 1), input(), unsent_);
    if (result.what == engine::outcome::done) ahead_ = first;
    if (result.what == engine::outcome::ended) co_return false;
    if (result.what == engine::outcome::failed) {
      co_await send_if_possible("next_or_stop");
      fail(result, "next_or_stop");
    }
    if (result.what != engine::outcome::wants_input) continue;
    send_now();
    if (engine_.has_part_of_record()) {
      co_await wait_for_input();
      continue;
    }
    input_.release();
    if (co_await transport_->next_or_stop() == transport::next::stopped) co_return false;
    co_await wait_for_input();  // at once: bytes, or the end
  }
  co_return true;
}

void connection::expect_writable(const char* operation) const {
  if (cut_off_) throw io_error(stream_errc::write_cut_off, operation, peer_);
  if (said_goodbye_) throw io_error(std::make_error_code(std::errc::broken_pipe), operation, peer_);
}

void connection::encrypt(std::span<const std::byte> bytes) {
  const engine::outcome result = engine_.encrypt(bytes, unsent_);
  if (result.what != engine::outcome::done) fail(result, "write_all");
}

task<std::size_t> connection::write_all(std::span<const std::byte> bytes) {
  owner_.check("write_all");
  const scope_count user(users_);
  const auto turn = co_await writing_.scoped_lock();
  expect_writable("write_all");
  if (bytes.empty()) co_return std::size_t{0};
  part_of_write part(cut_off_);  // from here on a part may be on its way
  for (std::span<const std::byte> rest = bytes; !rest.empty();) {
    const std::size_t size = std::min(max_at_once, rest.size());
    encrypt(rest.first(size));
    rest = rest.subspan(size);
    co_await flush("write_all");
  }
  part.is_whole();
  co_return bytes.size();
}

task<> connection::flush(const char* operation) {
  const auto turn = co_await sending_.scoped_lock();
  // The peer can decrypt nothing after the part that is missing, if another operation was cut off meanwhile.
  if (cut_off_) throw io_error(stream_errc::write_cut_off, operation, peer_);
  part_of_write part(cut_off_);
  while (!unsent_.empty()) {
    cipher_buffers::borrowed leaving;
    std::swap(*leaving, unsent_);
    co_await transport_->write_all(std::as_bytes(std::span(*leaving)));
  }
  part.is_whole();
}

task<> connection::shutdown_write() {
  owner_.check("shutdown_write");
  const scope_count user(users_);
  const auto turn = co_await writing_.scoped_lock();
  if (said_goodbye_) co_return;
  expect_writable("shutdown_write");
  said_goodbye_ = true;
  engine_.say_goodbye(unsent_);
  co_await flush("shutdown_write");
}

}  // namespace gyre::tls
