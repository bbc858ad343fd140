// src/stream/memory_stream.cpp: bounded pipes in memory.
#include <gyre/coro/cancelled.hpp>
#include <gyre/io/io_error.hpp>
#include <gyre/loop/owner_loop.hpp>
#include <gyre/loop/stop_request.hpp>
#include <gyre/loop/yield.hpp>
#include <gyre/stream/memory_stream.hpp>
#include <gyre/sync/event.hpp>
#include <gyre/sync/mutex.hpp>
#include <gyre/tasks/race.hpp>

#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

namespace gyre {

/// Bytes in transit in one direction. Freed when both ends are gone.
class memory_pipe {
 public:
  explicit memory_pipe(std::size_t capacity) : bytes_(new std::byte[capacity]), capacity_(capacity) {}

  task<std::size_t> read_some(std::span<std::byte> out) {
    if (out.empty()) co_return std::size_t{0};
    const use reading(*this, readers_, "read_some");
    if (!event_loop::may_continue_inline()) co_await yield();  // as a socket does
    while (is_empty() && !ended_) co_await readable_.wait();
    if (reset_ && is_empty()) throw_reset("read_some");
    co_return take_out(out);
  }

  task<bool> next_or_stop() {
    const use reading(*this, readers_, "next_or_stop");
    if (!event_loop::may_continue_inline()) co_await yield();
    for (bool stopped = false; is_empty() && !ended_ && !stopped;) {
      auto either = race(readable_.wait(), stop_requested());
      const auto first = co_await std::move(either);
      stopped = first.index == 1;
    }
    if (reset_ && is_empty()) throw_reset("next_or_stop");
    co_return !is_empty();
  }

  [[nodiscard]] bool has_ended() const noexcept { return ended_ && is_empty(); }

  // Bytes taken before a cancel are put back in front of all others, as on a socket.
  task<std::size_t> read_exactly(std::span<std::byte> out) {
    const use reading(*this, readers_, "read_exactly");
    if (!event_loop::may_continue_inline()) co_await yield();
    returned_.reserve(out.size());
    std::size_t done = 0;
    try {
      while (done < out.size()) {
        while (is_empty() && !ended_) co_await readable_.wait();
        if (reset_ && is_empty()) throw_reset("read_exactly");
        const std::size_t count = take_out(out.subspan(done));
        if (count == 0) throw incomplete_transfer(stream_errc::end_of_stream, "read_exactly", "memory", done);
        done += count;
      }
    } catch (const cancelled&) {
      put_back(out.first(done));
      throw;
    }
    co_return done;
  }

  task<std::size_t> write_all(std::span<const std::byte> in) {
    const use writing(*this, writers_, "write_all");
    const auto turn = co_await one_writer_.scoped_lock();
    std::size_t done = 0;
    try {
      while (done < in.size()) {
        if (cut_off_ && !reset_) throw io_error(stream_errc::write_cut_off, "write_all", "memory");
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
    const use writing(*this, writers_, "shutdown_write");
    const auto turn = co_await one_writer_.scoped_lock();
    if (cut_off_ && !reset_) throw io_error(stream_errc::write_cut_off, "shutdown_write", "memory");
    end_now();
  }

  // Called when the writing end resets the connection, or when the reading end does not want the remaining bytes.
  void reset() noexcept {
    owner_.expect_own("abort");
    reset_ = true;
    end_now();
    writable_.set();
  }
  void drop_and_reset() noexcept {
    owner_.expect_own("abort");
    size_ = 0;
    returned_.clear();
    returned_from_ = 0;
    reset();
  }

  // Called when the writing or the reading end is destroyed. Returns true when the other end is gone, too.
  bool writer_left() noexcept {
    owner_.expect_own("destructor");
    stop_if_used(writers_);
    reset_ = reset_ || cut_off_;  // the reader must not take a part for the whole
    end_now();
    return std::exchange(writer_gone_, true) || reader_gone_;
  }
  bool reader_left() noexcept {
    owner_.expect_own("destructor");
    stop_if_used(readers_);
    reader_gone_ = true;
    writable_.set();
    return writer_gone_;
  }

 private:
  // Marks a task that reads or writes.
  class use {
   public:
    use(memory_pipe& pipe, unsigned& count, const char* operation) noexcept : count_(&count) {
      pipe.owner_.expect_own(operation);
      ++count;
      if (count > 1 && &count == &pipe.readers_)
        misuse(
            "two tasks read from one memory_stream at the same time: let one task read, and hand on what it has read");
    }
    use& operator=(use&&) = delete;
    ~use() { --*count_; }

   private:
    unsigned* count_;
  };

  static void stop_if_used(unsigned count) noexcept {
    if (count > 0)
      misuse(
          "a memory_stream was destroyed while another task reads from it or writes to it: cancel and await that task "
          "first");
  }

  [[noreturn]] static void throw_reset(const char* operation) {
    throw io_error(std::make_error_code(std::errc::connection_reset), operation, "memory");
  }

  [[nodiscard]] bool is_empty() const noexcept { return size_ == 0 && returned_from_ == returned_.size(); }

  std::size_t take_out(std::span<std::byte> out) noexcept {
    std::size_t done = std::min(out.size(), returned_.size() - returned_from_);
    std::copy_n(returned_.data() + returned_from_, done, out.data());
    returned_from_ += done;
    if (returned_from_ == returned_.size()) {
      returned_.clear();
      returned_from_ = 0;
    }
    for (; done < out.size() && size_ > 0; writable_.set()) {
      const std::size_t part = std::min({out.size() - done, size_, capacity_ - first_});
      std::memcpy(out.data() + done, bytes_.get() + first_, part);
      first_ = (first_ + part) % capacity_;
      size_ -= part;
      done += part;
    }
    if (is_empty() && !ended_) readable_.clear();
    return done;
  }

  // Does not allocate: read_exactly has reserved room for everything that it may have to put back.
  void put_back(std::span<const std::byte> bytes) noexcept {
    if (bytes.empty()) return;
    returned_.insert(returned_.begin() + static_cast<std::ptrdiff_t>(returned_from_), bytes.begin(), bytes.end());
    readable_.set();
  }

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
  bool reset_ = false;
  bool writer_gone_ = false;
  bool reader_gone_ = false;
  event readable_;
  event writable_;
  mutex one_writer_;
  std::vector<std::byte> returned_;  // put back by a cancelled read_exactly; comes before the rest
  std::size_t returned_from_ = 0;
  unsigned readers_ = 0;
  unsigned writers_ = 0;
  owner_loop_of<"a memory_stream"> owner_;
};

void memory_stream::leave_as_reader(memory_pipe* pipe) noexcept {
  if (pipe->reader_left()) delete pipe;
}
void memory_stream::leave_as_writer(memory_pipe* pipe) noexcept {
  if (pipe->writer_left()) delete pipe;
}

namespace {

memory_pipe& open_pipe_of(const auto& pipe, const char* operation) noexcept {
  if (pipe == nullptr) misuse_of_closed(operation, "a memory_stream");
  return *pipe;
}

}  // namespace

GYRE_CORO_WRAPPER task<std::size_t> memory_stream::read_some(std::span<std::byte> buffer) {
  return open_pipe_of(in_, "read_some").read_some(buffer);
}
GYRE_CORO_WRAPPER task<std::size_t> memory_stream::read_exactly(std::span<std::byte> buffer) {
  return open_pipe_of(in_, "read_exactly").read_exactly(buffer);
}
GYRE_CORO_WRAPPER task<bool> memory_stream::next_or_stop() { return open_pipe_of(in_, "next_or_stop").next_or_stop(); }
GYRE_CORO_WRAPPER task<std::size_t> memory_stream::write_all(std::span<const std::byte> bytes) {
  return open_pipe_of(out_, "write_all").write_all(bytes);
}
GYRE_CORO_WRAPPER task<> memory_stream::shutdown_write() { return open_pipe_of(out_, "shutdown_write").end(); }

bool memory_stream::has_ended() const noexcept { return open_pipe_of(in_, "has_ended").has_ended(); }

void memory_stream::abort() noexcept {
  if (in_ != nullptr) in_->drop_and_reset();
  if (out_ != nullptr) out_->reset();
}

memory_pair::memory_pair(std::size_t capacity) {
  if (capacity == 0) misuse("a memory_pair needs a capacity of at least 1");
  auto there = std::make_unique<memory_pipe>(capacity);
  auto back = std::make_unique<memory_pipe>(capacity);
  first = memory_stream(*back, *there);
  second = memory_stream(*there.release(), *back.release());
}

}  // namespace gyre
