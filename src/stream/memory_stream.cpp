// src/stream/memory_stream.cpp: bounded pipes in memory.
#include <gyre/io/io_error.hpp>
#include <gyre/stream/memory_stream.hpp>
#include <gyre/sync/event.hpp>
#include <gyre/sync/mutex.hpp>

#include <algorithm>
#include <cstring>
#include <memory>

namespace gyre {

/// Bytes on their way in one direction. Freed when both ends are gone.
class memory_pipe {
 public:
  explicit memory_pipe(std::size_t capacity) : bytes_(new std::byte[capacity]), capacity_(capacity) {}

  task<std::size_t> read_some(std::span<std::byte> out) {
    if (out.empty()) co_return std::size_t{0};
    while (size_ == 0 && !ended_) co_await readable_.wait();
    const std::size_t count = std::min(out.size(), size_);
    for (std::size_t done = 0; done < count;) {
      const std::size_t part = std::min(count - done, capacity_ - first_);
      std::memcpy(out.data() + done, bytes_.get() + first_, part);
      first_ = (first_ + part) % capacity_;
      done += part;
    }
    size_ -= count;
    if (size_ == 0 && !ended_) readable_.clear();
    if (count > 0) writable_.set();
    co_return count;
  }

  task<std::size_t> write_all(std::span<const std::byte> in) {
    const auto turn = co_await writers_.scoped_lock();
    std::size_t done = 0;
    try {
      while (done < in.size()) {
        if (cut_off_) throw io_error(stream_errc::write_cut_off, "write_all", "memory");
        if (ended_ || reader_gone_) throw io_error(std::make_error_code(std::errc::broken_pipe), "write_all", "memory");
        if (size_ == capacity_) {
          writable_.clear();
          co_await writable_.wait();
          continue;
        }
        done += take_in(in.subspan(done));
      }
    } catch (...) {
      cut_off_ = cut_off_ || done > 0;
      throw;
    }
    co_return done;
  }

  task<> end() {
    const auto turn = co_await writers_.scoped_lock();
    end_now();
  }

  // The end that writes is gone, or the one that reads. True: so is the other.
  bool writer_left() noexcept {
    end_now();
    return std::exchange(writer_gone_, true) || reader_gone_;
  }
  bool reader_left() noexcept {
    reader_gone_ = true;
    writable_.set();
    return writer_gone_;
  }

 private:
  void end_now() noexcept {
    ended_ = true;
    readable_.set();
  }

  std::size_t take_in(std::span<const std::byte> in) noexcept {
    const std::size_t last = (first_ + size_) % capacity_;
    const std::size_t part = std::min({in.size(), capacity_ - size_, capacity_ - last});
    std::memcpy(bytes_.get() + last, in.data(), part);
    size_ += part;
    readable_.set();
    return part;
  }

  std::unique_ptr<std::byte[]> bytes_;
  std::size_t capacity_;
  std::size_t first_ = 0;
  std::size_t size_ = 0;
  bool ended_ = false;
  bool cut_off_ = false;
  bool writer_gone_ = false;
  bool reader_gone_ = false;
  event readable_;
  event writable_;
  mutex writers_;
};

memory_stream::~memory_stream() {
  if (out_ != nullptr && out_->writer_left()) delete out_;
  if (in_ != nullptr && in_->reader_left()) delete in_;
}

GYRE_CORO_WRAPPER task<std::size_t> memory_stream::read_some(std::span<std::byte> buffer) {
  return in_->read_some(buffer);
}
GYRE_CORO_WRAPPER task<std::size_t> memory_stream::write_all(std::span<const std::byte> bytes) {
  return out_->write_all(bytes);
}
GYRE_CORO_WRAPPER task<> memory_stream::shutdown_write() { return out_->end(); }

memory_pair::memory_pair(std::size_t capacity) {
  if (capacity == 0) misuse("a memory_pair needs a capacity of at least 1");
  auto there = std::make_unique<memory_pipe>(capacity);
  auto back = std::make_unique<memory_pipe>(capacity);
  first = memory_stream(*back, *there);
  second = memory_stream(*there.release(), *back.release());
}

}  // namespace gyre
