// src/client/client_connection.hpp: a connection to a server, plain or encrypted.
#pragma once

#include <gyre/coro/owned.hpp>
#include <gyre/coro/task.hpp>
#include <gyre/io/buffer_lease.hpp>
#include <gyre/io/completion.hpp>
#include <gyre/net/socket_stream.hpp>
#include <gyre/stream/any_stream.hpp>
#include <gyre/tasks/task_handle.hpp>
#include <gyre/tls/stream.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "write_outcome.hpp"

namespace gyre {
class socket_bulk;
}

namespace gyre::http {

class idle_connections;
struct origin;

/// Any connected socket.
struct carrier : socket_stream {
  carrier() noexcept = default;
  explicit carrier(socket_stream&& stream) noexcept : socket_stream(std::move(stream)) {}
};

/// The stream below TLS. The connection keeps it, so that time limits reach it.
template <class S>
class borrowed_stream {
 public:
  explicit borrowed_stream(S& below) noexcept : below_(&below) {}
  GYRE_CORO_WRAPPER auto read_some(std::span<std::byte> buffer) noexcept { return below_->read_some(buffer); }
  auto receive() noexcept
    requires lending_stream<S>
  {
    return below_->receive();
  }
  GYRE_CORO_WRAPPER auto write_all(std::span<const std::byte> bytes) noexcept { return below_->write_all(bytes); }
  void abort() noexcept { below_->abort(); }

 private:
  S* below_;
};

/// One request at a time. When it is idle, it is watched: its owner learns when the server closes it, and never uses it
/// again when anything has arrived.
class client_connection final : private end_watch {
 public:
  template <class Stream>
  explicit client_connection(Stream stream, io::monotonic_time now) : socket_(std::move(stream)), made_(now) {
    ended = [](end_watch& watch) noexcept { static_cast<client_connection&>(watch).has_ended(); };
  }
  /// A connection that the program has opened.
  explicit client_connection(any_stream stream, io::monotonic_time now) : foreign_(std::move(stream)), made_(now) {}
  client_connection& operator=(client_connection&&) = delete;

  /// Ends it. It may live on, unseen, until a task that watches it has ended.
  void discard() noexcept;

  [[nodiscard]] socket_stream& socket() noexcept { return socket_; }
  /// A plain socket, whose bytes come in leases.
  [[nodiscard]] bool lends() const noexcept { return !tls_ && !foreign_; }
  /// Ends a read and a write that wait, because a time limit has passed.
  void interrupt() noexcept {
    if (foreign_)
      foreign_.abort();
    else
      socket_.cancel();
  }
  void abort() noexcept {
    if (foreign_)
      foreign_.abort();
    else
      socket_.abort();
  }
  /// Does the handshake.
  task<> encrypt(std::string host, const tls::client_config& config);

  /// Writes everything. Errors of the connection are values.
  task<write_outcome> write(std::string_view first, std::string_view second = {});
  /// Writes a piece of bulk, if it lends them.
  task<write_outcome> write(socket_bulk& piece);
  /// True if the server has taken a good part of a piece of bulk since this was last called.
  [[nodiscard]] bool has_progressed() noexcept;
  /// Waits for bytes, if it lends them.
  auto receive_lease() noexcept { return socket_.receive(); }
  /// Waits for bytes, in any case.
  task<std::size_t> read_some(std::span<std::byte> buffer);
  task<> write_all(std::span<const std::byte> bytes);
  task<> shutdown_write();

  /// From now on nobody reads, and `owner` is told when the server leaves.
  void watch(idle_connections& owner);
  /// True when unwatch() has to wait.
  [[nodiscard]] bool watched_by_task() const noexcept { return static_cast<bool>(watching_); }
  /// Ends the watch. Returns false when anything has arrived since, even if the loop has not seen it yet: it would be
  /// taken for the response to the next request.
  [[nodiscard]] bool unwatch_now() noexcept;
  /// The same for a connection that a task watches. Cancel: the watch may go on; discard the connection.
  task<bool> unwatch();

  [[nodiscard]] io::monotonic_time made() const noexcept { return made_; }
  /// The connection is no longer idle. Its end is not reported to the owner any more.
  void forget_owner() noexcept { owner_ = nullptr; }
  origin* home = nullptr;             // for the idle ones
  bool reused = false;                // has carried a request before
  io::monotonic_time idle_since = 0;  // for the idle ones
  io::monotonic_time idle_until = 0;

 private:
  friend class idle_connections;
  ~client_connection() = default;
  void has_ended() noexcept;
  [[nodiscard]] bool has_unseen() noexcept;
  struct read_in_background;
  static task<> read_while_idle(read_in_background reading);
  void background_ended() noexcept;

  carrier socket_;
  any_stream foreign_;  // instead of the socket
  tls::stream tls_;     // over one of them
  std::string joined_;  // for records
  task_handle<void> watching_;
  idle_connections* owner_ = nullptr;
  io::monotonic_time made_;
  std::uint64_t taken_ = 0;  // by the server, when last looked at
  bool background_ = false;  // a task of this connection exists
  bool reads_ = false;       // this task has begun
  bool quiet_ = true;        // nothing has arrived since it is idle
  bool discarded_ = false;
};

/// The owner of idle connections.
class idle_connections {
 public:
  /// The server has closed it, or has sent something.
  virtual void drop(client_connection& ended) noexcept = 0;

 protected:
  ~idle_connections() = default;
};

using connection_owner = owned<client_connection*, &client_connection::discard>;

}  // namespace gyre::http
