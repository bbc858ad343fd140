// src/http/transport.hpp: what carries the bytes of a connection: a socket, or any byte stream.
#pragma once

#include <gyre/coro/task.hpp>
#include <gyre/io/buffer_lease.hpp>
#include <gyre/net/stream_socket.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <system_error>

namespace gyre::http {

enum class transfer : std::uint8_t {
  done,
  ended,      // the peer has finished sending
  timed_out,  // the limit has passed
  failed,     // the connection is broken, or the program has interrupted it
};

/// What became of a part of a file.
struct file_transfer {
  transfer outcome = transfer::done;
  std::size_t sent = 0;             // done with less than was asked for: the file has ended before
  std::error_code file_error = {};  // it cannot be read; the outcome is `failed` then
};

/// Errors of the connection are results here: they are everyday for a server.
class transport {
 public:
  /// What a client has to take within the limit of a write. Who has taken it has as much time again for the rest.
  static constexpr std::size_t taken_within_limit = std::size_t{64} << 10U;

  transport() = default;
  transport(const transport&) = delete;
  transport& operator=(const transport&) = delete;
  virtual ~transport() = default;

  /// Waits for bytes. Cancel: nothing is lost.
  virtual task<transfer> receive(buffer_lease& into, std::chrono::nanoseconds limit) = 0;
  /// Writes one range, or two. Cancel: may be cut off.
  virtual task<transfer> write(std::string_view first, std::string_view second, std::chrono::nanoseconds limit) = 0;
  /// Sends a part of a file. Cancel: may be cut off.
  virtual task<file_transfer> send_file(int file, std::uint64_t offset, std::size_t count,
                                        std::chrono::nanoseconds limit) = 0;
  /// The number of bytes that the kernel takes without waiting, perhaps 0; -1 when the connection is broken. With `more` the
  /// kernel may keep them until more comes, at once.
  virtual std::ptrdiff_t write_now(std::string_view bytes, bool more) noexcept = 0;
  /// Whether that can ever be something.
  [[nodiscard]] virtual bool writes_now() const noexcept = 0;
  /// Says that nothing more will be written. Errors do not matter any more.
  virtual task<> shutdown_write() = 0;
  /// The end will be a reset: the peer is to see that something is missing, and the kernel keeps nothing for it.
  virtual void reset_at_end() noexcept = 0;
  /// A waiting receive ends, with `failed`.
  virtual void interrupt() noexcept = 0;
  /// Of a peer whose end has been seen: whether it takes nothing any more either, as far as that is known.
  [[nodiscard]] virtual bool is_broken() const noexcept = 0;
  /// Tells when the peer leaves while nothing is being received; null ends it. What cannot, never tells.
  virtual void watch_end(end_watch* watch) noexcept = 0;
};

}  // namespace gyre::http
