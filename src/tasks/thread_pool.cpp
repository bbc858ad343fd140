// src/tasks/thread_pool.cpp: rejects invalid sizes of a thread pool, and joins the threads of the process.
#include <gyre/tasks/thread_pool.hpp>

#include <stdexcept>

namespace gyre {

std::size_t thread_pool::at_least_one(std::size_t max_threads) {
  if (max_threads == 0) throw std::invalid_argument("thread_pool: max_threads is 0; it needs at least one thread");
  return max_threads;
}

void end_thread_pools() noexcept { io::blocking_pool::join_lasting(); }

}  // namespace gyre
