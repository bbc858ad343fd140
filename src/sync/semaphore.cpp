// src/sync/semaphore.cpp: hands permits to waiters.
#include <gyre/sync/semaphore.hpp>

#include <limits>
#include <stdexcept>

namespace gyre {

void counting_semaphore::hand_on(std::size_t count) noexcept {
  if (count > std::numeric_limits<std::size_t>::max() - available_)
    misuse("release() of a semaphore with more permits than it can count: give back what was acquired");
  while (count > 0 && waiters_.grant_one()) --count;
  available_ += count;
}

void bounded_semaphore::release(std::size_t count) {
  if (count > bound_ - available()) throw std::logic_error("bounded_semaphore: released more often than acquired");
  counting_semaphore::release(count);
}

}  // namespace gyre
