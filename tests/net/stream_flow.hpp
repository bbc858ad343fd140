// tests/net/stream_flow.hpp: one direction of a connection, with bytes that show their position.
#pragma once

#include <gyre/gyre.hpp>

#include "tests/net/random_pause.hpp"
#include "tests/support/positioned_bytes.hpp"

#include <fcntl.h>

#include <array>
#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace gyre_test {

/// A non-owning stream, for a stream_reader.
template <class Stream>
struct borrowed_stream {
  auto read_some(std::span<std::byte> buffer) { return stream->read_some(buffer); }
  auto write_all(std::span<const std::byte> bytes) { return stream->write_all(bytes); }
  Stream* stream;
};

struct end_noted : gyre::end_watch {
  end_noted() {
    gyre::end_watch::ended = [](gyre::end_watch& w) noexcept { static_cast<end_noted&>(w).ended_at_all = true; };
  }
  bool ended_at_all = false;
};

enum class finish : std::uint8_t { shut_down, close, reset };
enum class step : bool { went_on, ended };

/// One direction of a connection: what is written, and the position of the reader.
template <class Stream>
struct flow {
  flow(unsigned number, Stream& source, Stream& sink, bool alone)
      : seed(number),
        choose(number),
        from(&source),
        to(&sink),
        reader(gyre::any_stream(borrowed_stream<Stream>{&source})),
        only_one(alone) {
    total = choose.between(1, 20) * 20'000;
  }

  void take(std::span<const std::byte> bytes) {
    const std::size_t same = matching(bytes, seed, position);
    position += same;
    if (same < bytes.size())
      throw std::runtime_error("byte " + std::to_string(position) + " of " + std::to_string(total) + " is another");
  }
  [[nodiscard]] std::chrono::microseconds moment() { return std::chrono::microseconds(choose.below(300)); }

  unsigned seed;
  choices choose;
  Stream* from;
  Stream* to;
  gyre::stream_reader reader;
  end_noted watch;
  std::vector<gyre::buffer_lease> kept;
  std::size_t total = 0;
  std::size_t written = 0;
  std::size_t position = 0;
  std::size_t descriptors = 0;  // received so far
  int in_haste = 0;             // the next reads take all there is, without a pause
  bool only_one;                // no other flow uses the two streams
  finish end = finish::shut_down;
  bool has_left = false;
};

template <class Stream>
gyre::task<> write_piece(flow<Stream>& all, std::span<const std::byte> bytes, int descriptor) {
  if constexpr (std::same_as<Stream, gyre::unix_stream>) {
    if (all.choose.one_in(3)) {
      const std::array<int, 2> two{descriptor, descriptor};
      const std::span<const int> some(two.data(), all.choose.between(1, 2));
      co_await all.to->send_descriptors(bytes, some);
      co_return;
    }
  }
  co_await all.to->write_all(bytes);
}

template <class Stream>
gyre::task<> write(flow<Stream>& all) {
  const gyre::owned_fd nothing(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  std::vector<std::byte> bytes;
  while (all.written < all.total) {
    const std::size_t pieces = all.choose.one_in(4) ? all.choose.between(1, 40) : 1;  // many fill the receiver's queue
    for (std::size_t n = 0; n < pieces && all.written < all.total; ++n) {
      bytes.resize(std::min(all.choose.size_up_to(pieces > 1 ? 5'000 : 60'000), all.total - all.written));
      fill(bytes, all.seed, all.written);
      all.written += bytes.size();
      co_await write_piece(all, bytes, nothing.get());
    }
    if (all.choose.one_in(2))  // the reader runs out of data and has to wait, perhaps for more than is written so far
      for (int n = 0; n < 20 && all.position < all.written; ++n) co_await gyre::sleep(50us);
    co_await pause(all.choose);
  }
  all.has_left = true;
  if (all.end == finish::shut_down) {
    co_await all.to->shutdown_write();
    co_return;
  }
  if constexpr (std::same_as<Stream, gyre::tcp_stream>) all.to->set_reset_on_close(all.end == finish::reset);
  *all.to = Stream();
}

}  // namespace gyre_test
