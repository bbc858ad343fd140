// src/io/buffer_pool.cpp: the memory of receive buffers.
#include <gyre/io/buffer_pool.hpp>
#include <gyre/io/printable.hpp>

#include <sys/mman.h>

#include <cstdlib>
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

const void* buffer_pool::this_thread() noexcept {
  static thread_local constinit char here = 0;
  return &here;
}

void buffer_pool::stop_on_other_thread() noexcept {
  print_diagnostic(
      {"gyre: a buffer_lease was given back on the thread of another loop: copy the bytes that other threads need, or "
       "give the lease back in a task of its own loop"});
  std::abort();
}

}  // namespace gyre::io
