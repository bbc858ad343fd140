// src/io/buffer_pool.cpp: the memory of receive buffers.
#include <gyre/io/buffer_pool.hpp>

#include <sys/mman.h>

#include <new>

namespace gyre::io {

buffer_pool::buffer_pool(std::uint32_t count, std::uint32_t size)
    : memory_(nullptr), slots_(new slot[count]), count_(count), size_(size) {
  // Mapped rather than allocated: a page costs nothing until a connection has received into it.
  void* const memory =
      ::mmap(nullptr, std::size_t{count} * size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) {
    delete[] slots_;
    throw std::bad_alloc();
  }
  memory_ = static_cast<std::byte*>(memory);
  // In this order, so that the first buffer taken is the first in memory.
  for (std::uint32_t index = count; index-- > 0;) release(index);
}

buffer_pool::~buffer_pool() {
  ::munmap(memory_, std::size_t{count_} * size_);
  delete[] slots_;
}

}  // namespace gyre::io
