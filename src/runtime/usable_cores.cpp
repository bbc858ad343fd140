// src/runtime/usable_cores.cpp: the smaller of the affinity mask and the processor quota.
#include "core_limits.hpp"
#include "processor_quota.hpp"

#include <gyre/io/printable.hpp>

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <stdexcept>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace gyre {
namespace {

constexpr unsigned max_threads = 1024;

// Returns 0 when the variable is not set.
unsigned threads_of(const char* variable) {
  const std::string_view text = variable == nullptr ? "" : variable;
  unsigned threads = 0;
  if (text.empty()) return threads;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), threads);
  if (error == std::errc{} && end == text.data() + text.size() && threads <= max_threads) return threads;
  throw std::invalid_argument("GYRE_THREADS=" + printable(text.substr(0, 60)) +
                              ": expected a number from 1 to 1024; unset it to use what this process may use");
}

}  // namespace

unsigned cores_by_affinity(affinity_call get) {
  // The kernel refuses a mask that is too short for the cores that this machine could have.
  constexpr std::size_t largest = 1024;  // a million cores
  for (std::size_t size = 1; size <= largest; size *= 2) {
    std::vector<cpu_set_t> mask(size);
    const std::size_t bytes = size * sizeof(cpu_set_t);
    if (get(0, bytes, mask.data()) == 0) return static_cast<unsigned>(std::max(CPU_COUNT_S(bytes, mask.data()), 1));
    if (errno != EINVAL) break;
  }
  return static_cast<unsigned>(std::max(::sysconf(_SC_NPROCESSORS_ONLN), 1L));
}

core_count count_cores(const std::string& root, affinity_call get, const char* threads) {
  core_count count;
  const unsigned wanted = threads_of(threads);
  count.cores = count.by_affinity = cores_by_affinity(get);
  count.limited_by = "the affinity mask";
  processor_quotas quotas = read_processor_quotas(root);
  if (quotas.tightest) {
    count.quota = quotas.tightest->cores;
    count.quota_group = std::move(quotas.tightest->group);
    count.throttled = quotas.throttled;
    if (*count.quota < count.by_affinity) {
      count.cores = std::max(static_cast<unsigned>(*count.quota), 1U);  // rounded down
      count.limited_by = "the quota of " + count.quota_group;
    }
  }
  if (wanted > 0) {
    count.cores = wanted;
    count.limited_by = "GYRE_THREADS";
  }
  return count;
}

core_count explain_usable_cores() { return count_cores("", ::sched_getaffinity, std::getenv("GYRE_THREADS")); }

unsigned usable_cores() { return explain_usable_cores().cores; }

}  // namespace gyre
