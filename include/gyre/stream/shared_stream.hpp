// gyre/stream/shared_stream.hpp: a stream that a reader and a writer own together. For authors of operations.
#pragma once

#include <gyre/coro/misuse.hpp>
#include <gyre/loop/owner_loop.hpp>
#include <gyre/stream/any_stream.hpp>

#include <cstdint>
#include <utility>

namespace gyre {

/// Counts its owners; the last one destroys the stream. A copy of a moved-from object is empty too, and using it stops
/// the program. Thread: that of the stream.
class shared_stream {
 public:
  explicit shared_stream(any_stream stream) : state_(new state{std::move(stream)}) {}
  shared_stream(const shared_stream& other) noexcept : state_(other.state_) {
    if (state_ == nullptr) return;
    state_->loop.check("copy");
    ++state_->owners;
  }
  shared_stream(shared_stream&& other) noexcept : state_(std::exchange(other.state_, nullptr)) {}
  shared_stream& operator=(shared_stream other) noexcept {
    std::swap(state_, other.state_);
    return *this;
  }
  ~shared_stream() {
    auto* const ended = std::exchange(state_, nullptr);
    if (ended == nullptr) return;
    ended->loop.check("destructor");
    if (--ended->owners == 0) delete ended;
  }

  [[nodiscard]] any_stream& operator*() const noexcept {
    if (state_ == nullptr) misuse_of_closed("an operation", "a shared_stream");
    return state_->stream;
  }
  [[nodiscard]] any_stream* operator->() const noexcept { return &**this; }
  /// False when it was moved from.
  [[nodiscard]] explicit operator bool() const noexcept { return state_ != nullptr; }
  /// True when there are other owners.
  [[nodiscard]] bool is_shared() const noexcept { return state_ != nullptr && state_->owners > 1; }

 private:
  struct state {
    any_stream stream;
    std::uint32_t owners = 1;
    owner_loop_of<"a shared_stream"> loop = {};
  };
  state* state_;
};

}  // namespace gyre
