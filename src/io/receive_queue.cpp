// src/io/receive_queue.cpp: queueing and taking received buffers.
#include <gyre/io/receive_queue.hpp>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>
#include <utility>

namespace gyre::io {

// Only a cancelled read makes one: it is allocated, and freed with the last of its bytes.
struct receive_queue::block {
  std::byte* memory = nullptr;
  std::size_t begin = 0;
  std::size_t size = 0;

  [[nodiscard]] std::span<std::byte> rest() const noexcept { return {memory + begin, size - begin}; }
};

receive_queue::receive_queue(descriptor& source, backend& performer) noexcept : performer_(&performer) {
  code = opcode::receive_many;
  target = &source;
  deliver = &deliver_buffer;
}

receive_queue::~receive_queue() { drop_all(); }

void receive_queue::drop_all() noexcept {
  if (put_back_ != nullptr) delete[] put_back_->memory;
  delete std::exchange(put_back_, nullptr);
  while (first_ != buffer_pool::none) {
    const std::uint32_t index = first_;
    pop(index);
    performer_->buffers().release(index);
  }
}

void receive_queue::deliver_buffer(multishot& m, int result, std::uint32_t buffer) noexcept {
  auto& self = static_cast<receive_queue&>(m);
  if (result <= 0) {
    // A cancel means that the queue was full or the socket is being closed; neither is an end of the stream.
    if (result != -ECANCELED && self.end_ == open) self.end_ = result;
    return;
  }
  if (self.end_ != open) [[unlikely]]
    return self.performer_->buffers().release(buffer);
  buffer_pool::slot& slot = self.performer_->buffers().at(buffer);
  slot.next = buffer_pool::none;
  slot.length = static_cast<std::uint32_t>(result);
  if (self.first_ == buffer_pool::none)
    self.first_ = buffer;
  else
    self.performer_->buffers().at(self.last_).next = buffer;
  self.last_ = buffer;
  if (++self.count_ >= most_buffers && self.where == phase::in_flight) self.performer_->cancel(self);
}

void receive_queue::pop(std::uint32_t index) noexcept {
  first_ = performer_->buffers().at(index).next;
  consumed_ = 0;
  --count_;
}

buffer_lease receive_queue::take() noexcept {
  if (put_back_ != nullptr) {
    buffer_lease lease(put_back_->memory, put_back_->rest());
    delete std::exchange(put_back_, nullptr);
    return lease;
  }
  if (first_ == buffer_pool::none) return {};
  const std::uint32_t index = first_;
  buffer_pool& pool = performer_->buffers();
  const std::span<std::byte> bytes(pool.data(index) + consumed_, pool.at(index).length - consumed_);
  pop(index);
  return {pool, index, bytes};
}

std::size_t receive_queue::copy_to(std::span<std::byte> out) noexcept {
  buffer_pool& pool = performer_->buffers();
  std::size_t copied = 0;
  if (put_back_ != nullptr) {
    const std::span<std::byte> rest = put_back_->rest();
    copied = std::min(out.size(), rest.size());
    std::memcpy(out.data(), rest.data(), copied);
    put_back_->begin += copied;
    if (copied == rest.size()) (void)take();
  }
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
  return copied;
}

void receive_queue::put_back(std::span<const std::byte> bytes) noexcept {
  if (bytes.empty()) return;
  const std::span<std::byte> behind = put_back_ == nullptr ? std::span<std::byte>() : put_back_->rest();
  const std::size_t size = bytes.size() + behind.size();
  auto* const memory = new (std::nothrow) std::byte[size];
  block* const changed = put_back_ != nullptr ? put_back_ : new (std::nothrow) block{};
  if (memory == nullptr || changed == nullptr) {
    delete[] memory;
    if (changed != put_back_) delete changed;
    drop_all();
    end_ = -ENOMEM;
    return performer_->cancel(*this);
  }
  std::memcpy(memory, bytes.data(), bytes.size());
  if (!behind.empty()) std::memcpy(memory + bytes.size(), behind.data(), behind.size());
  if (put_back_ != nullptr) delete[] put_back_->memory;
  *changed = {memory, 0, size};
  put_back_ = changed;
}

}  // namespace gyre::io
