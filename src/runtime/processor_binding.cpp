// src/runtime/processor_binding.cpp: sched_getaffinity(2) and sched_setaffinity(2).
#include <gyre/io/blocking_pool.hpp>

#include "processor_binding.hpp"

#include <sched.h>

#include <cerrno>
#include <string>
#include <system_error>

namespace gyre {
namespace {

constexpr std::size_t bits = 8 * sizeof(unsigned long);

template <class Mask>
cpu_set_t* as_set(Mask& mask) noexcept {
  return reinterpret_cast<cpu_set_t*>(mask.data());
}

}  // namespace

processor_binding::processor_binding() {
  if (::sched_getaffinity(0, sizeof(all_), as_set(all_)) != 0)
    throw std::system_error(errno, std::generic_category(), "runtime: reading the processors of a thread");
  for (std::size_t i = 0; i < max_processors; ++i)
    if ((all_[i / bits] >> (i % bits) & 1U) != 0) processors_.push_back(i);
  io::blocking_pool::remember_processors();
}

void processor_binding::bind(std::size_t number) const {
  const std::size_t processor = processors_[number % processors_.size()];
  mask one{};
  one[processor / bits] = 1UL << (processor % bits);
  if (::sched_setaffinity(0, sizeof(one), as_set(one)) != 0)
    throw std::system_error(
        errno, std::generic_category(),
        "runtime: binding loop " + std::to_string(number) + " to processor " + std::to_string(processor));
}

void processor_binding::unbind() const noexcept {
  mask all = all_;
  (void)::sched_setaffinity(0, sizeof(all), as_set(all));
}

}  // namespace gyre
