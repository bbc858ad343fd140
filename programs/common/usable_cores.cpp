// programs/common/usable_cores.cpp: sched_getaffinity(2) and cpu.max.
#include "programs/common/usable_cores.hpp"

#include <sched.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <string>

namespace programs {

unsigned usable_cores() {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  unsigned cores = 1;
  if (::sched_getaffinity(0, sizeof(mask), &mask) == 0) cores = static_cast<unsigned>(CPU_COUNT(&mask));
  std::ifstream file("/sys/fs/cgroup/cpu.max");
  std::string quota;
  double period = 0;
  if (file >> quota >> period && quota != "max" && period > 0)
    cores = std::min(cores, static_cast<unsigned>(std::ceil(std::stod(quota) / period)));
  return std::max(cores, 1U);
}

}  // namespace programs
