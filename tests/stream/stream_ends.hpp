// tests/stream/stream_ends.hpp: readers and writers on streams in memory, and the other end.
#pragma once

#include <gyre/stream/memory_stream.hpp>
#include <gyre/stream/stream_reader.hpp>
#include <gyre/stream/stream_writer.hpp>

#include "tests/support/virtual_run.hpp"

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <utility>

namespace gyre_test {

/// A reader at one end. The test acts at the other end.
struct ends {
  explicit ends(std::size_t capacity = 1 << 16U) : ends(gyre::memory_pair(capacity)) {}
  explicit ends(gyre::memory_pair pair)
      : far(std::move(pair.first)), reader(gyre::any_stream(std::move(pair.second))) {}

  gyre::task<> say(std::string text) { (void)co_await far.write_all(std::as_bytes(std::span(text))); }
  gyre::task<> say_and_end(std::string text) {
    co_await say(std::move(text));
    co_await far.shutdown_write();
  }
  /// The reader sees the first `cut` bytes before the others arrive.
  gyre::task<> say_in_two_parts_and_end(std::string text, std::size_t cut) {
    co_await say(text.substr(0, cut));
    co_await gyre::sleep(1ms);
    co_await say_and_end(text.substr(cut));
  }

  gyre::memory_stream far;
  gyre::stream_reader reader;
};

/// A reader and a writer at one end, and a reader at the other.
struct both_ways {
  explicit both_ways(std::size_t capacity = 1 << 16U) : both_ways(gyre::memory_pair(capacity)) {}
  explicit both_ways(gyre::memory_pair pair)
      : here(gyre::any_stream(std::move(pair.first))),
        reader(here),
        writer(here),
        far(gyre::any_stream(std::move(pair.second))) {}

  gyre::shared_stream here;
  gyre::stream_reader reader;
  gyre::stream_writer writer;
  gyre::stream_reader far;
};

/// Reads until the stream ends or fails.
inline gyre::task<> read_rest(gyre::memory_stream& from) {
  std::array<std::byte, 16> buffer;
  while (co_await from.read_some(buffer) > 0) {
  }
}

/// A writer at one end, and the other end.
struct writer_and_peer {
  explicit writer_and_peer(std::size_t capacity = 4) : writer_and_peer(gyre::memory_pair(capacity)) {}
  explicit writer_and_peer(gyre::memory_pair pair)
      : writer(gyre::any_stream(std::move(pair.first))), far(std::move(pair.second)) {}

  /// Reads to the end. Throws when the stream was reset.
  gyre::task<std::string> read_all() {
    gyre::stream_reader reader{gyre::any_stream(std::move(far))};
    co_return co_await reader.read_all(2000);
  }

  std::optional<gyre::stream_writer> writer;
  gyre::memory_stream far;
};

/// The message of a read from a stream whose peer has aborted it.
inline constexpr const char* reset_by_peer = "read_some memory: Connection reset by peer";

}  // namespace gyre_test
