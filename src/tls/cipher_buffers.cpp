// src/tls/cipher_buffers.cpp: the free buffers of a thread.
#include "cipher_buffers.hpp"

#include <array>
#include <cstddef>
#include <utility>

namespace gyre::tls {
namespace {

constexpr std::size_t max_kept = 16;
constexpr std::size_t max_kept_size = std::size_t{128} << 10U;

struct free_buffers {
  std::array<std::string, max_kept> all;
  std::size_t count = 0;
};

free_buffers& of_thread() noexcept {
  static thread_local free_buffers buffers;
  return buffers;
}

}  // namespace

cipher_buffers::borrowed::borrowed() noexcept {
  free_buffers& free = of_thread();
  if (free.count > 0) buffer_ = std::move(free.all[--free.count]);
  buffer_.clear();
}

cipher_buffers::borrowed::~borrowed() {
  free_buffers& free = of_thread();
  if (free.count < max_kept && buffer_.capacity() <= max_kept_size) free.all[free.count++] = std::move(buffer_);
}

}  // namespace gyre::tls
