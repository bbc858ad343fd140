// src/client/client_connection.cpp: how an idle connection is watched. A socket tells by itself that its peer has left.
// Other streams tell that only to a reader, so a task reads.
#include "client_connection.hpp"

#include <gyre/io/missed_end.hpp>
#include <gyre/loop/event_loop.hpp>
#include <gyre/loop/yield.hpp>
#include <gyre/net/bulk.hpp>
#include <gyre/tasks/as_expected.hpp>
#include <gyre/tasks/spawn.hpp>

#include <array>

namespace gyre::http {

task<> client_connection::encrypt(std::string host, const tls::client_config& config) {
  auto shaking = foreign_ ? tls::connect(borrowed_stream<any_stream>(foreign_), std::move(host), config)
                          : tls::connect(borrowed_stream<socket_stream>(socket_), std::move(host), config);
  tls_ = co_await std::move(shaking);
}

task<std::size_t> client_connection::read_some(std::span<std::byte> buffer) {
  if (tls_) co_return co_await tls_.read_some(buffer);
  if (foreign_) co_return co_await foreign_.read_some(buffer);
  co_return co_await socket_.read_some(buffer);
}

task<> client_connection::write_all(std::span<const std::byte> bytes) {
  if (tls_)
    (void)co_await tls_.write_all(bytes);
  else if (foreign_)
    co_await foreign_.write_all(bytes);
  else
    (void)co_await socket_.write_all(bytes);
}

task<> client_connection::shutdown_write() {
  if (tls_)
    co_await tls_.shutdown_write();
  else if (foreign_)
    co_await foreign_.shutdown_write();
  else
    co_await socket_.shutdown_write();
}

task<write_outcome> client_connection::write(std::string_view first, std::string_view second) {
  write_outcome outcome;
  try {
    if (!lends()) {
      constexpr std::size_t one_record = std::size_t{16} << 10U;
      if (!second.empty() && first.size() + second.size() <= one_record) {
        joined_.assign(first).append(second);
        first = joined_;
        second = {};
      }
      co_await write_all(std::as_bytes(std::span(first)));
      if (!second.empty()) co_await write_all(std::as_bytes(std::span(second)));
    } else if (second.empty()) {
      (void)co_await socket_.write_all(first);
    } else {
      const std::array<io::const_buffer, 2> both{
          {{.data = first.data(), .size = first.size()}, {.data = second.data(), .size = second.size()}}};
      (void)co_await socket_.write_all(std::span<const io::const_buffer>(both));
    }
  } catch (const incomplete_transfer& failure) {
    outcome = {.error = failure.code(), .nothing_written = lends() && failure.transferred() == 0};
  } catch (const std::system_error& failure) {
    outcome = {.error = failure.code(), .nothing_written = lends()};
  }
  co_return outcome;
}

task<write_outcome> client_connection::write(socket_bulk& piece) {
  write_outcome outcome;
  const auto written = co_await gyre::as_expected(piece.write());
  if (!written) outcome.error = written.error();
  co_return outcome;
}

bool client_connection::has_progressed() noexcept {
  constexpr std::uint64_t enough = std::uint64_t{64} << 10U;
  return socket_.socket().taken_since(taken_) >= enough;
}

// The end of it releases the connection if it has been discarded meanwhile, also when the task never ran.
struct client_connection::read_in_background {
  explicit read_in_background(client_connection& watched) noexcept : of(&watched) {}
  owned<client_connection*, &client_connection::background_ended> of;
};

task<> client_connection::read_while_idle(read_in_background reading) {
  std::array<std::byte, 1> unexpected{};
  client_connection& self = *reading.of;
  self.reads_ = true;
  auto byte = self.read_some(unexpected);
  (void)co_await as_expected(std::move(byte));
  self.quiet_ = false;
  if (!self.discarded_ && self.owner_ != nullptr) self.owner_->drop(self);
}

void client_connection::background_ended() noexcept {
  background_ = false;
  if (discarded_) delete this;
}

void client_connection::watch(idle_connections& owner) {
  owner_ = &owner;
  quiet_ = true;
  if (lends()) return socket_.socket().watch_end(this);
  read_in_background reading(*this);
  background_ = true;
  reads_ = false;
  watching_ = spawn(read_while_idle(std::move(reading)), {.name = "watching an idle connection"});
}

void client_connection::has_ended() noexcept {
  if (owner_ != nullptr) owner_->drop(*this);
}

bool client_connection::unwatch_now() noexcept {
  owner_ = nullptr;
  socket_.socket().watch_end(nullptr);
  return !has_unseen();
}

// The kernel knows of bytes, of the end and of errors that the loop has not seen yet.
bool client_connection::has_unseen() noexcept {
  socket_state& socket = socket_.socket();
  return socket.received.readable() || io::has_unreceived(socket.fd, event_loop::current().backend());
}

// TLS, or a stream of the program's own, tells only a reader what it has received. So the task has to begin first, and
// for such a stream the loop has to look at the kernel.
task<bool> client_connection::unwatch() {
  owner_ = nullptr;
  if (foreign_) event_loop::current().end_turn();
  if (foreign_ || !reads_) co_await yield();
  if (!watching_.done()) watching_.cancel();
  co_await watching_.wait();
  watching_.detach();
  const bool quiet = reads_ && quiet_ && !background_;
  co_return quiet && (foreign_ || !has_unseen());
}

void client_connection::discard() noexcept {
  owner_ = nullptr;
  if (!background_) {
    if (lends() && socket_.is_open()) socket_.socket().watch_end(nullptr);
    delete this;
    return;
  }
  discarded_ = true;
  task_handle<void> watching = std::move(watching_);
  if (watching && !watching.done()) watching.cancel();
  watching.detach();
}

}  // namespace gyre::http
