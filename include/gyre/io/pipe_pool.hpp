// gyre/io/pipe_pool.hpp: the pipes through which sockets of a loop move bulk without copying it. For authors of
// operations.
#pragma once

#include <gyre/attributes.hpp>
#include <gyre/io/descriptor.hpp>

#include <cstdint>

namespace gyre::io {

/// A few pipes that a loop makes when they are first needed, and keeps. See splice(2).
///
/// A stream takes one for each piece that it moves, and gives it back when the piece has been written. So a reader that
/// stalls holds one, and the others go on with those that are left, or copy.
///
/// Thread: belongs to one loop.
class GYRE_API pipe_pool {
 public:
  static constexpr std::uint32_t max_pipes = 4;
  /// The size of a pipe, and the most that is moved at once. The kernel's limit for unprivileged users is 64 MiB in all
  /// pipes of a user together. Units: bytes.
  static constexpr std::uint32_t pipe_size = std::uint32_t{1} << 20U;

  /// Both ends of a pipe, and what is in it.
  class GYRE_API pipe {
   public:
    [[nodiscard]] std::uint32_t bytes() const noexcept { return bytes_; }
    /// Moves at most `max` bytes out of a non-blocking socket into this pipe, which must be empty. Returns the count,
    /// 0 at the end of the stream, or -errno. Clears `readable` when the socket is empty.
    [[nodiscard]] int fill_from(descriptor& socket, std::uint32_t max = pipe_size) noexcept;
    /// Moves bytes into a non-blocking socket. Never raises SIGPIPE, which stays blocked for this thread. Returns the
    /// count or -errno. Clears `writable` when the socket is full.
    [[nodiscard]] int drain_to(descriptor& socket) noexcept;

   private:
    friend class pipe_pool;
    int reader_ = -1;  // -1: is not open
    int writer_ = -1;
    std::uint32_t bytes_ = 0;
    pipe* next_ = nullptr;  // in the free list
  };

  pipe_pool() noexcept;
  ~pipe_pool();
  pipe_pool& operator=(pipe_pool&&) = delete;

  /// Returns an empty pipe. Returns null when all are in use, or when the kernel refuses to make another.
  [[nodiscard]] pipe* take() noexcept;
  /// Gives a pipe back, and drops bytes that are still in it.
  void give_back(pipe& p) noexcept;

  /// The kernel refuses to move bytes through a pipe: none is lent for a while.
  void pause() noexcept { pause_ = long_pause; }

  /// The number of pipes that are lent now.
  [[nodiscard]] std::uint32_t in_use() const noexcept { return in_use_; }
  /// How often a pipe has been lent.
  [[nodiscard]] std::uint64_t lent() const noexcept { return lent_; }

  /// Counts the streams that move bulk.
  void bulk_began() noexcept { ++streams_; }
  void bulk_ended() noexcept { --streams_; }
  /// True when several streams move bulk. A loop that serves only one usually waits for its peers, and copying is then
  /// faster (decision 0018).
  [[nodiscard]] bool worth_it() const noexcept { return streams_ > 1; }

 private:
  static constexpr std::uint32_t long_pause = 1000;

  [[nodiscard]] static bool open(pipe& p) noexcept;
  static void close(pipe& p) noexcept;

  pipe pipes_[max_pipes];
  pipe* free_ = nullptr;
  std::uint32_t streams_ = 0;
  std::uint32_t in_use_ = 0;
  std::uint64_t lent_ = 0;
  std::uint32_t pause_ = 0;  // calls of take() to be refused
};

}  // namespace gyre::io
