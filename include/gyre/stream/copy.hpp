// gyre/stream/copy.hpp: copies bytes from one stream to another.
#pragma once

#include <gyre/coro/task.hpp>
#include <gyre/io/buffer_lease.hpp>
#include <gyre/stream/byte_stream.hpp>
#include <gyre/tasks/gather.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

namespace gyre {

/// Reads `from` to its end and writes everything to `to`. Returns the number of bytes. Sockets lend their buffers, so
/// nothing is copied in between. While several sockets of a loop move bulk, the kernel moves it from socket to socket
/// through pipes. Other streams are read in pieces of 16 KiB at most.
///
/// Lifetime: both streams must outlive the await.
/// Cancel: bytes that were read and not written are lost, 1 MiB at most; `to` may have a cut-off write.
/// Errors: the exceptions of the streams.
template <readable_stream From, writable_stream To>
[[nodiscard]] task<std::uint64_t> copy(From& from, To& to) {
  std::uint64_t total = 0;
  if constexpr (lending_stream<From> && requires { bulk_between(from.socket(), to.socket()); }) {
    auto bulk = bulk_between(from.socket(), to.socket());
    for (;;) {
      buffer_lease piece = co_await from.receive();
      if (piece.empty()) break;
      co_await to.write_all(piece.bytes());
      total += piece.size();
      if (!bulk.begins_with(piece.size())) continue;
      piece.release();
      while (const std::size_t moved = co_await bulk.receive()) {
        co_await bulk.write();
        total += moved;
      }
    }
  } else if constexpr (lending_stream<From>) {
    for (;;) {
      const buffer_lease piece = co_await from.receive();
      if (piece.empty()) break;
      co_await to.write_all(piece.bytes());
      total += piece.size();
    }
  } else {
    std::array<std::byte, std::size_t{16} << 10U> buffer;
    while (const std::size_t n = co_await from.read_some(std::span<std::byte>(buffer))) {
      co_await to.write_all(std::span<const std::byte>(buffer).first(n));
      total += n;
    }
  }
  co_return total;
}

/// For the two below: copies `from` to its end, then signals the end of the data to `to`. Cancel: same as copy().
template <readable_stream From, half_closable_stream To>
[[nodiscard]] task<std::uint64_t> copy_and_end(From& from, To& to) {
  const std::uint64_t total = co_await copy(from, to);
  co_await to.shutdown_write();
  co_return total;
}

/// Aborts a stream where possible (see abortable_stream), unless everything has been written to it: its peer must not
/// take a part for the whole.
template <class Stream>
class abort_unless_whole {
 public:
  explicit abort_unless_whole(Stream& stream) noexcept : stream_(stream) {}
  abort_unless_whole& operator=(abort_unless_whole&&) = delete;
  ~abort_unless_whole() {
    if constexpr (abortable_stream<Stream>)
      if (!whole_) stream_.abort();
  }
  void is_whole() noexcept { whole_ = true; }

 private:
  Stream& stream_;
  bool whole_ = false;
};

/// Copies `from` to its end, then signals the end of the data to `to`. When it ends earlier, it aborts `to` where
/// possible (see abortable_stream), so that the peer does not take a part for the whole.
///
/// Lifetime: both streams must outlive the await. Cancel: same as copy(), and `to` is aborted. Errors: the exceptions
/// of the streams; `to` is aborted.
template <readable_stream From, half_closable_stream To>
[[nodiscard]] task<std::uint64_t> copy_to_end(From& from, To& to) {
  abort_unless_whole written(to);
  auto copying = copy_and_end(from, to);
  const std::uint64_t total = co_await std::move(copying);
  written.is_whole();
  co_return total;
}

/// The number of bytes copied in each direction.
struct copied_both_ways {
  std::uint64_t first_to_second = 0;
  std::uint64_t second_to_first = 0;
};

/// Connects two streams, as a proxy does: copies the data of each to the other until both have ended. The end of one is
/// passed on to the other.
///
/// When it ends earlier, both streams are aborted where possible (see abortable_stream): neither peer must take a part
/// for the whole.
///
/// Lifetime: both streams must outlive the await. Cancel: reaches both directions; the streams are aborted.
/// Errors: the first failure, which ends the other direction too; the streams are aborted.
template <half_closable_stream First, half_closable_stream Second>
[[nodiscard]] task<copied_both_ways> copy_bidirectional(First& first, Second& second) {
  abort_unless_whole to_first(first);
  abort_unless_whole to_second(second);
  auto both = gather(copy_and_end(first, second), copy_and_end(second, first));
  auto counts = co_await std::move(both);
  to_first.is_whole();
  to_second.is_whole();
  co_return copied_both_ways{counts.template get<0>(), counts.template get<1>()};
}

}  // namespace gyre
