// src/sync/semaphore.cpp: handing permits on.
#include <gyre/sync/semaphore.hpp>

#include <stdexcept>

namespace gyre {

void counting_semaphore::release(std::size_t count) noexcept {
  while (count > 0 && waiters_.grant_one()) --count;
  available_ += count;
}

void bounded_semaphore::release(std::size_t count) {
  if (count > bound_ - available()) throw std::logic_error("bounded_semaphore: released more often than acquired");
  counting_semaphore::release(count);
}

}  // namespace gyre
