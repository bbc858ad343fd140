// src/io/receive_queue.cpp: queues received buffers, and hands them out.
#include <gyre/io/receive_queue.hpp>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>
#include <utility>

namespace gyre::io {
namespace {

// Small results in a row after which a stream gives up large buffers.
constexpr std::int8_t patience = 8;

// Moves what is in a large buffer to a common one, if one is free, so that small messages hold no large buffers.
std::uint32_t moved_to_common(buffer_pool& pool, std::uint32_t large, std::size_t size) noexcept {
  const std::uint32_t common = pool.take();
  if (common == buffer_pool::none) return large;
  std::memcpy(pool.data(common), pool.data(large), size);
  pool.release(large);
  return common;
}

}  // namespace

// Created by a cancelled read, or when the pool is short of buffers. Allocated, and freed with the last of its bytes.
struct receive_queue::block {
  std::byte* memory = nullptr;
  std::size_t begin = 0;
  std::size_t size = 0;

  [[nodiscard]] std::span<std::byte> rest() const noexcept { return {memory + begin, size - begin}; }
};

// Both may refer to the block that is replaced. Returns false, with nothing changed, when memory runs out.
bool receive_queue::replace(block*& changed, std::span<const std::byte> first,
                            std::span<const std::byte> second) noexcept {
  const std::size_t size = first.size() + second.size();
  auto* const memory = new (std::nothrow) std::byte[size];
  block* const now = changed != nullptr ? changed : new (std::nothrow) block{};
  if (memory == nullptr || now == nullptr) {
    delete[] memory;
    if (now != changed) delete now;
    return false;
  }
  std::memcpy(memory, first.data(), first.size());
  if (!second.empty()) std::memcpy(memory + first.size(), second.data(), second.size());
  delete[] now->memory;
  *now = {.memory = memory, .begin = 0, .size = size};
  changed = now;
  return true;
}

buffer_lease receive_queue::take(block*& from) noexcept {
  buffer_lease lease(from->memory, from->rest());
  delete std::exchange(from, nullptr);
  return lease;
}

std::size_t receive_queue::copy_from(block*& from, std::span<std::byte> out) noexcept {
  const std::span<std::byte> rest = from->rest();
  const std::size_t copied = std::min(out.size(), rest.size());
  std::memcpy(out.data(), rest.data(), copied);
  from->begin += copied;
  if (copied == rest.size()) (void)take(from);
  return copied;
}

receive_queue::receive_queue(descriptor& source, backend& performer) noexcept : performer_(&performer) {
  code = opcode::receive_many;
  target = &source;
  deliver = &deliver_buffer;
  // The first message arrives in one piece, whatever its size, because its pieces would set the course for as long as
  // the connection lives (decision 0017).
  const buffer_pool& pool = performer.buffers();
  if (pool.large_size() > pool.buffer_size()) change_to(opcode::receive_large_many, patience - 1);
}

receive_queue::~receive_queue() { drop_all(); }

void receive_queue::drop_all() noexcept {
  for (block** each : {&put_back_, &apart_})
    if (*each != nullptr) (void)take(*each);
  while (first_ != buffer_pool::none) {
    const std::uint32_t index = first_;
    pop(index);
    performer_->buffers().release(index);
  }
}

inline void receive_queue::append(std::uint32_t size, std::uint32_t buffer, std::uint32_t weight) noexcept {
  buffer_pool& pool = performer_->buffers();
  pool.at(buffer) = {.next = buffer_pool::none, .length = size};
  if (first_ == buffer_pool::none)
    first_ = buffer;
  else
    pool.at(last_).next = buffer;
  last_ = buffer;
  count_ += weight;
  if (count_ >= max_buffers && where == phase::in_flight) performer_->cancel(*this);
}

void receive_queue::deliver_buffer(multishot& m, int result, std::uint32_t buffer) noexcept {
  auto& self = static_cast<receive_queue&>(m);
  if (result == -ENOBUFS && self.code == opcode::receive_large_many) return self.do_without_large();
  if (result <= 0) {
    // A cancel means that the queue was full or the socket is being closed. Neither is an end of the stream.
    if (result != -ECANCELED && self.end_ == open) self.end_ = result;
    return;
  }
  const auto size = static_cast<std::uint32_t>(result);
  const buffer_pool& pool = self.performer_->buffers();
  const bool usual = self.code == opcode::receive_many && self.wanted_ == opcode::receive_many &&
                     size < pool.buffer_size() && self.end_ == open && self.apart_ == nullptr && !pool.scarce();
  if (!usual) [[unlikely]]
    return self.append_unusual(size, buffer);
  self.streak_ = std::min<std::int8_t>(self.streak_, 0);  // as adapt() does
  self.append(size, buffer, 1);
}

// A buffer that is large or full, or arrives when buffers are scarce.
void receive_queue::append_unusual(std::uint32_t size, std::uint32_t buffer) noexcept {
  buffer_pool& pool = performer_->buffers();
  if (end_ != open) return pool.release(buffer);
  adapt(size);
  const bool is_small = size <= pool.buffer_size();
  if (pool.is_large(buffer) && is_small) buffer = moved_to_common(pool, buffer, size);
  if (pool.is_large(buffer)) joins_ = false;
  if ((apart_ != nullptr || (pool.scarce() && is_small)) && set_apart(buffer, size)) return;
  append(size, buffer, weight_of(buffer));
}

// One full buffer suffices to change to large ones: they cost nothing while the stream is idle. The way back is slower,
// because the rest of a large message is often small.
void receive_queue::adapt(std::uint32_t size) noexcept {
  const buffer_pool& pool = performer_->buffers();
  const bool was_large = code == opcode::receive_large_many;
  if (wanted_ != code) return;  // it changes already
  if (was_large ? size > pool.buffer_size() : size < pool.buffer_size()) {
    streak_ = std::min<std::int8_t>(streak_, 0);
    return;
  }
  if (!was_large && pool.large_size() <= pool.buffer_size()) return;
  if (++streak_ < (was_large ? patience : 1)) return;
  change_to(was_large ? opcode::receive_many : opcode::receive_large_many, 0);
  joins_ = !was_large;
}

void receive_queue::change_to(opcode wanted, std::int8_t streak) noexcept {
  wanted_ = wanted;
  streak_ = streak;
  if (where == phase::in_flight) performer_->cancel(*this);
}

// The large ones are all in use. A stream that goes on filling its buffers tries again, but not with each of them.
void receive_queue::do_without_large() noexcept {
  constexpr std::int8_t pause = 32;
  change_to(opcode::receive_many, -pause);
}

std::uint32_t receive_queue::weight_of(std::uint32_t buffer) const noexcept {
  return performer_->buffers().is_large(buffer) ? weight_of_large : 1;
}

// Copies the bytes, and returns the buffer to the pool at once. Returns false when memory ran out;
// the bytes then stay in the buffer.
bool receive_queue::set_apart(std::uint32_t buffer, std::size_t size) noexcept {
  buffer_pool& pool = performer_->buffers();
  const std::span<const std::byte> before = apart_ == nullptr ? std::span<const std::byte>() : apart_->rest();
  const std::span<const std::byte> bytes(pool.data(buffer), size);
  const bool copied = before.empty() ? replace(apart_, bytes, {}) : replace(apart_, before, bytes);
  if (!copied && apart_ == nullptr) return false;
  pool.release(buffer);
  if (!copied)
    end_without_memory();
  else if (apart_->size >= pool.buffer_size() && where == phase::in_flight)
    performer_->cancel(*this);
  return true;
}

// Bytes after lost ones must not be read.
void receive_queue::end_without_memory() noexcept {
  drop_all();
  end_ = -ENOMEM;
  performer_->cancel(*this);
}

void receive_queue::pop(std::uint32_t index) noexcept {
  first_ = performer_->buffers().at(index).next;
  consumed_ = 0;
  count_ -= weight_of(index);
}

buffer_lease receive_queue::take() noexcept {
  if (put_back_ != nullptr) [[unlikely]]
    return take(put_back_);
  if (first_ == buffer_pool::none) [[unlikely]]
    return apart_ != nullptr ? take(apart_) : buffer_lease();
  buffer_pool& pool = performer_->buffers();
  if (std::exchange(joins_, false)) [[unlikely]] {
    if (buffer_lease joined = take_joined()) return joined;
  }
  const std::uint32_t index = first_;
  const std::span<std::byte> bytes(pool.data(index) + consumed_, pool.at(index).length - consumed_);
  pop(index);
  return {pool, index, bytes};
}

// The stream has filled a common buffer, so its first bytes are the beginning of something large. Joins them with the
// rest: a reply in two pieces would cost the connection some of its speed for as long as it lives (decision 0017).
// Returns an empty lease when no large buffer is free.
buffer_lease receive_queue::take_joined() noexcept {
  buffer_pool& pool = performer_->buffers();
  const std::uint32_t index = pool.take_large();
  if (index == buffer_pool::none) return {};
  const std::span<std::byte> room(pool.data(index), pool.large_size());
  std::size_t size = copy_to(room);
  // While a request is in flight, the backend may have received the next bytes.
  if (where == phase::idle && end_ == open && !has_bytes() && target->readable && size < room.size()) {
    const long count = performer_->receive_now(*target, room.data() + size, room.size() - size);
    if (count > 0)
      size += static_cast<std::size_t>(count);
    else if (count != -EAGAIN)
      end_ = static_cast<int>(count);
  }
  return {pool, index, room.first(size)};
}

std::size_t receive_queue::copy_to(std::span<std::byte> out) noexcept {
  buffer_pool& pool = performer_->buffers();
  std::size_t copied = put_back_ == nullptr ? 0 : copy_from(put_back_, out);
  while (first_ != buffer_pool::none && copied < out.size()) {
    const std::uint32_t index = first_;
    const std::size_t count = std::min<std::size_t>(out.size() - copied, pool.at(index).length - consumed_);
    std::memcpy(out.data() + copied, pool.data(index) + consumed_, count);
    copied += count;
    consumed_ += static_cast<std::uint32_t>(count);
    if (consumed_ == pool.at(index).length) {
      pop(index);
      pool.release(index);
    }
  }
  if (apart_ != nullptr && copied < out.size()) copied += copy_from(apart_, out.subspan(copied));
  return copied;
}

void receive_queue::put_back(std::span<const std::byte> bytes) noexcept {
  if (bytes.empty()) return;
  const std::span<std::byte> behind = put_back_ == nullptr ? std::span<std::byte>() : put_back_->rest();
  if (!replace(put_back_, bytes, behind)) end_without_memory();
}

}  // namespace gyre::io
