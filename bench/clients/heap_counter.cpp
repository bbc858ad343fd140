// bench/clients/heap_counter.cpp: counts the bytes on the heap of a program that preloads it, for bench/budgets.py. The
// count is in the file that GYRE_HEAP_COUNTER names, as a number of 64 bits.
#include <fcntl.h>
#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdlib>

extern "C" {
void* __libc_malloc(std::size_t size);
void* __libc_calloc(std::size_t count, std::size_t size);
void* __libc_realloc(void* old, std::size_t size);
void* __libc_memalign(std::size_t alignment, std::size_t size);
void __libc_free(void* block);
}

namespace {

std::atomic<std::int64_t> before_main{0};
std::atomic<std::int64_t>* counter = &before_main;

[[gnu::constructor]] void map_counter() {
  const char* const path = std::getenv("GYRE_HEAP_COUNTER");
  const int fd = path != nullptr ? ::open(path, O_RDWR | O_CLOEXEC) : -1;
  if (fd < 0) return;
  void* const page = ::mmap(nullptr, sizeof(*counter), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  ::close(fd);
  if (page != MAP_FAILED) counter = static_cast<std::atomic<std::int64_t>*>(page);
}

void* count(void* block, int sign = 1) {
  constexpr std::int64_t head = 8;  // of a block of glibc
  if (block != nullptr) *counter += sign * (static_cast<std::int64_t>(::malloc_usable_size(block)) + head);
  return block;
}

}  // namespace

extern "C" {
void* malloc(std::size_t size) { return count(__libc_malloc(size)); }
void* calloc(std::size_t number, std::size_t size) { return count(__libc_calloc(number, size)); }
void free(void* block) { __libc_free(count(block, -1)); }
void* realloc(void* old, std::size_t size) {
  count(old, -1);
  void* const fresh = __libc_realloc(old, size);
  if (fresh == nullptr && size != 0) count(old);  // it stays
  return count(fresh);
}
void* memalign(std::size_t alignment, std::size_t size) { return count(__libc_memalign(alignment, size)); }
void* aligned_alloc(std::size_t alignment, std::size_t size) { return memalign(alignment, size); }
int posix_memalign(void** block, std::size_t alignment, std::size_t size) {
  *block = memalign(alignment, size);
  return *block != nullptr ? 0 : ENOMEM;
}
}
