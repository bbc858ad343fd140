// programs/gyre/serve/file_writer.hpp: writes what a client sends to a file, in blocks.
#pragma once

#include <gyre/coro/exception_group.hpp>
#include <gyre/fs/file.hpp>
#include <gyre/tasks/gather.hpp>

#include <cstddef>
#include <exception>
#include <memory>
#include <string_view>
#include <utility>

namespace programs {

/// Writes what a source delivers: a form or a body. Each write goes through the ring or a thread, and a client can send
/// pieces of one byte. So pieces are gathered into blocks, and a block is received while the previous one is written.
///
/// Lifetime: the file and the source must outlive it.
template <class Source>
class file_writer {
 public:
  file_writer(gyre::fs::file& out, Source& source) noexcept : out_(out), source_(source) {}

  /// Returns at the end of the source, when everything is written.
  ///
  /// Cancel: a part of the source has been written.
  /// Errors: those of the source and of the file; the first one when both fail.
  gyre::task<> run() {
    block now;
    block next;
    co_await fill(now, small_block);
    while (now.size == now.capacity) {
      try {
        co_await gyre::gather(out_.write_all(now.text()), fill(next, large_block));
      } catch (const gyre::exception_group& both) {
        std::rethrow_exception(*both.begin());
      }
      std::swap(now, next);
    }
    if (now.size > 0) (void)co_await out_.write_all(now.text());
  }

 private:
  // Most files are small, so the first block is. All blocks begin and end at multiples of its size, at whole pages.
  // See decision 0020 for the sizes.
  static constexpr std::size_t small_block = std::size_t{16} << 10U;
  static constexpr std::size_t large_block = std::size_t{256} << 10U;

  struct block {
    std::unique_ptr<char[]> bytes;
    std::size_t capacity = 0;
    std::size_t size = 0;
    [[nodiscard]] std::string_view text() const noexcept { return {bytes.get(), size}; }
  };

  // The block is full, or the source has ended.
  gyre::task<> fill(block& into, std::size_t capacity) {
    if (into.capacity != capacity) into = {std::make_unique_for_overwrite<char[]>(capacity), capacity};
    into.size = 0;
    while (into.size < capacity) {
      if (piece_.empty()) piece_ = co_await source_.receive();
      if (piece_.empty()) co_return;
      const std::size_t count = piece_.copy(into.bytes.get() + into.size, capacity - into.size);
      into.size += count;
      piece_.remove_prefix(count);
    }
  }

  gyre::fs::file& out_;
  Source& source_;
  std::string_view piece_;  // received, but not copied yet
};

}  // namespace programs
