// src/io/buffer_pool.cpp: the memory of receive buffers.
#include <gyre/io/buffer_pool.hpp>

#include <sys/mman.h>

#include <new>

namespace gyre::io {

buffer_pool::buffer_pool(amount common, amount large)
    : slots_(new slot[std::size_t{common.count} + large.count]), common_(common), large_(large) {
  // Mapped rather than allocated: a page costs nothing until a connection has received into it.
  void* const memory = ::mmap(nullptr, bytes(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) {
    delete[] slots_;
    throw std::bad_alloc();
  }
  memory_ = static_cast<std::byte*>(memory);
  large_memory_ = memory_ + common_bytes();
  // In this order, so that the first buffer taken is the first in memory.
  for (std::uint32_t index = common.count + large.count; index-- > 0;) release(index);
}

buffer_pool::~buffer_pool() {
  ::munmap(memory_, bytes());
  delete[] slots_;
}

}  // namespace gyre::io
