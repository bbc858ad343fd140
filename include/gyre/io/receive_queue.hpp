// gyre/io/receive_queue.hpp: the unread data that a multishot receive has delivered. For authors of operations.
#pragma once

#include <gyre/attributes.hpp>
#include <gyre/io/backend.hpp>
#include <gyre/io/buffer_lease.hpp>

#include <cstddef>
#include <cstdint>
#include <span>

namespace gyre::io {

/// A multishot receive and the list of pool buffers that it has filled. Holds no buffer while no data is waiting.
///
/// Adapts: a stream begins with large buffers, and its first small message changes it to the common ones. A stream that
/// fills one receives into large ones again, until their bytes would have fitted the others for a while. The bytes that
/// cause the change are joined with those that follow. A small message never stays in a large buffer while a common one
/// is free. Nothing is held for a stream that is idle.
/// Bounded: it stops receiving while `max_buffers` buffers wait to be read (a large one counts as several), and goes
/// on when they have been read.
/// While the buffers of the pool are scarce, arriving data is copied into separate memory, and one buffer's worth is
/// enough to stop. So any number of unread queues leave buffers for the others.
/// On io_uring, a request that the kernel has had since the pool was less full may deliver up to 32 buffers at once.
/// Lifetime: must not move or be destroyed while its request is in flight.
class GYRE_API receive_queue : public multishot {
 public:
  static constexpr std::uint32_t max_buffers = 16;
  static constexpr std::uint32_t weight_of_large = 8;
  static constexpr int open = 1;

  receive_queue(descriptor& source, backend& performer) noexcept;
  /// Belongs to no backend and never receives.
  constexpr receive_queue() noexcept = default;
  ~receive_queue();

  /// Starts receiving, if it has stopped and the stream has not ended.
  void arm() noexcept {
    if (where != phase::idle || end_ != open) return;
    code = wanted_;
    performer_->submit(*this);
  }
  /// Asks for the end of receiving. What has arrived can still be taken.
  void stop() noexcept {
    if (where == phase::in_flight) performer_->cancel(*this);
  }
  [[nodiscard]] bool armed() const noexcept { return where == phase::in_flight; }
  [[nodiscard]] bool belongs_to(const backend& performer) const noexcept { return performer_ == &performer; }

  /// True when there is something to take: bytes, the end of the stream, or an error.
  [[nodiscard]] bool readable() const noexcept { return has_bytes() || end_ != open; }
  [[nodiscard]] bool has_bytes() const noexcept {
    return put_back_ != nullptr || first_ != buffer_pool::none || apart_ != nullptr;
  }
  /// `open`, 0 at the end of the stream, or -errno. Applies after the remaining bytes.
  [[nodiscard]] int end() const noexcept { return end_; }

  /// Takes the next buffer; empty when there is none.
  buffer_lease take() noexcept;
  /// Copies as much as is available into `out`. Returns the count.
  std::size_t copy_to(std::span<std::byte> out) noexcept;
  /// Puts back bytes that were taken and not used; they are next to be read. Without memory for them the stream ends
  /// here with ENOMEM, because the data after lost bytes must not be read.
  void put_back(std::span<const std::byte> bytes) noexcept;

 private:
  static void deliver_buffer(multishot& m, int result, std::uint32_t buffer) noexcept;
  void append(std::uint32_t size, std::uint32_t buffer, std::uint32_t weight) noexcept;
  void append_unusual(std::uint32_t size, std::uint32_t buffer) noexcept;
  void adapt(std::uint32_t size) noexcept;
  void change_to(opcode wanted, std::int8_t streak) noexcept;
  void do_without_large() noexcept;
  [[nodiscard]] buffer_lease take_joined() noexcept;
  [[nodiscard]] std::uint32_t weight_of(std::uint32_t buffer) const noexcept;
  void pop(std::uint32_t index) noexcept;
  void drop_all() noexcept;
  void end_without_memory() noexcept;
  [[nodiscard]] bool set_apart(std::uint32_t buffer, std::size_t size) noexcept;

  struct block;  // bytes in separate memory
  static bool replace(block*& changed, std::span<const std::byte> first, std::span<const std::byte> second) noexcept;
  static buffer_lease take(block*& from) noexcept;
  static std::size_t copy_from(block*& from, std::span<std::byte> out) noexcept;

  backend* performer_ = nullptr;
  block* put_back_ = nullptr;  // before the buffers
  block* apart_ = nullptr;     // after the buffers
  std::uint32_t first_ = buffer_pool::none;
  std::uint32_t last_ = buffer_pool::none;
  std::uint32_t consumed_ = 0;  // bytes of the first buffer that have been copied out
  std::uint32_t count_ = 0;     // as compared with max_buffers
  int end_ = open;
  opcode wanted_ = opcode::receive_many;  // from the next arm() on
  std::int8_t streak_ = 0;                // results that speak for the other size of buffers
  bool joins_ = false;                    // the waiting bytes are the beginning of something large
};

}  // namespace gyre::io
