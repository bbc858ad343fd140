// tests/runtime/faked_cores.hpp: a machine of faked files, which says how many cores a process may use.
#pragma once

#include "src/runtime/core_limits.hpp"
#include "src/runtime/processor_quota.hpp"

#include <gtest/gtest.h>

#include <sched.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>

namespace gyre_test {

// Lines of /proc/self/mountinfo.
inline constexpr std::string_view root_mount = "27 1 254:0 / / rw,relatime - ext4 /dev/vda rw,discard\n";
inline constexpr std::string_view v2_mount =
    "30 27 0:27 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate\n";
inline constexpr std::string_view v1_mount =
    "31 27 0:28 / /sys/fs/cgroup/cpu,cpuacct rw,nosuid shared:10 - cgroup cgroup rw,cpu,cpuacct\n"
    "32 27 0:29 / /sys/fs/cgroup/memory rw,nosuid shared:11 - cgroup cgroup rw,memory\n";

/// On a machine of faked files, with 16 cores in the affinity mask.
class usable_cores : public testing::Test {
 public:
  usable_cores() {
    std::string name = (std::filesystem::temp_directory_path() / "gyre_cores_XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("mkdtemp");
    root_ = name;
  }
  ~usable_cores() override {
    std::error_code ignored;
    std::filesystem::remove_all(root_, ignored);
  }

  usable_cores& file(std::string_view path, std::string_view text) {
    const std::string full = root_ + std::string(path);
    std::filesystem::create_directories(std::filesystem::path(full).parent_path());
    std::ofstream(full, std::ios::binary) << text;
    return *this;
  }
  /// The groups of the process, and what is mounted.
  usable_cores& process(std::string_view groups, std::string_view mounts) {
    file("/proc/self/cgroup", groups);
    return file("/proc/self/mountinfo", std::string(root_mount).append(mounts));
  }
  usable_cores& v2_quota(const std::string& group, std::string_view quota) {
    return file("/sys/fs/cgroup" + group + "/cpu.max", quota);
  }
  usable_cores& v1_quota(const std::string& group, std::string_view quota, std::string_view period = "100000\n") {
    const std::string directory = "/sys/fs/cgroup/cpu,cpuacct" + group;
    return file(directory + "/cpu.cfs_quota_us", quota).file(directory + "/cpu.cfs_period_us", period);
  }
  [[nodiscard]] gyre::core_count count(const char* threads = nullptr) const {
    const auto sixteen = [](pid_t, std::size_t size, cpu_set_t* mask) {
      CPU_ZERO_S(size, mask);
      for (std::size_t core = 0; core < 16; ++core) CPU_SET_S(core, size, mask);
      return 0;
    };
    return gyre::count_cores(root_, sixteen, threads);
  }
  [[nodiscard]] unsigned cores() const { return count().cores; }
  [[nodiscard]] std::string refusal_of(const char* threads) const {
    try {
      (void)count(threads);
    } catch (const std::invalid_argument& error) {
      return error.what();
    }
    return "accepted";
  }

 private:
  std::string root_;
};

}  // namespace gyre_test
