// tests/runtime/usable_cores_test.cpp: affinity masks, processor quotas in faked files, and GYRE_THREADS.
#include "src/runtime/core_limits.hpp"
#include "src/runtime/processor_quota.hpp"

#include <gtest/gtest.h>

#include <sched.h>
#include <stdlib.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>

namespace {

using gyre::core_count;

// Lines of /proc/self/mountinfo.
constexpr std::string_view root_mount = "27 1 254:0 / / rw,relatime - ext4 /dev/vda rw,discard\n";
constexpr std::string_view v2_mount =
    "30 27 0:27 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate\n";
constexpr std::string_view v1_mount =
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
  [[nodiscard]] core_count count(const char* threads = nullptr) const {
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

}  // namespace

TEST_F(usable_cores, are_those_of_the_affinity_mask_when_there_is_no_file) {
  const core_count found = count();
  EXPECT_EQ(found.cores, 16U);
  EXPECT_EQ(found.by_affinity, 16U);
  EXPECT_FALSE(found.quota);
  EXPECT_EQ(found.limited_by, "the affinity mask");
}

TEST_F(usable_cores, this_process_may_use_the_cores_of_its_affinity_mask) {
  ::unsetenv("GYRE_THREADS");
  const core_count found = gyre::explain_usable_cores();
  EXPECT_GE(found.cores, 1U);
  EXPECT_LE(found.cores, found.by_affinity);
  EXPECT_EQ(gyre::usable_cores(), found.cores);
  unsigned pinned = 0;
  std::thread([&] {
    cpu_set_t mask;
    ::sched_getaffinity(0, sizeof(mask), &mask);
    std::size_t first = 0;
    while (!CPU_ISSET(first, &mask)) ++first;
    CPU_ZERO(&mask);
    CPU_SET(first, &mask);
    ::sched_setaffinity(0, sizeof(mask), &mask);
    pinned = gyre::usable_cores();
  }).join();
  EXPECT_EQ(pinned, 1U);
}

TEST_F(usable_cores, a_mask_for_more_than_1024_cores_is_read_completely) {
  const auto huge = [](pid_t, std::size_t size, cpu_set_t* mask) {
    if (size < 8192 / 8) {
      errno = EINVAL;
      return -1;
    }
    CPU_ZERO_S(size, mask);
    for (std::size_t core = 0; core < 5000; ++core) CPU_SET_S(core, size, mask);
    return 0;
  };
  EXPECT_EQ(gyre::cores_by_affinity(huge), 5000U);
}

TEST_F(usable_cores, a_denied_affinity_call_leaves_at_least_one_core) {
  const auto denied = [](pid_t, std::size_t, cpu_set_t*) {
    errno = EPERM;
    return -1;
  };
  EXPECT_GE(gyre::cores_by_affinity(denied), 1U);
  const auto too_short = [](pid_t, std::size_t, cpu_set_t*) {
    errno = EINVAL;
    return -1;
  };
  EXPECT_GE(gyre::cores_by_affinity(too_short), 1U) << "the search for a size ends";
}

TEST_F(usable_cores, version_2_the_quota_of_the_own_group_counts) {
  process("0::/app.slice/server.service\n", v2_mount).v2_quota("/app.slice/server.service", "400000 100000\n");
  const core_count found = count();
  EXPECT_EQ(found.cores, 4U);
  EXPECT_EQ(found.by_affinity, 16U);
  EXPECT_EQ(found.quota, 4.0);
  EXPECT_EQ(found.quota_group, "/sys/fs/cgroup/app.slice/server.service");
  EXPECT_EQ(found.limited_by, "the quota of /sys/fs/cgroup/app.slice/server.service");
}

TEST_F(usable_cores, version_2_a_tighter_ancestor_counts) {
  process("0::/a/b/c\n", v2_mount);
  v2_quota("/a", "200000 100000\n").v2_quota("/a/b", "max 100000\n").v2_quota("/a/b/c", "500000 100000\n");
  const core_count found = count();
  EXPECT_EQ(found.cores, 2U);
  EXPECT_EQ(found.quota_group, "/sys/fs/cgroup/a");
}

TEST_F(usable_cores, version_2_a_looser_ancestor_does_not_count) {
  process("0::/a/b\n", v2_mount).v2_quota("/a", "900000 100000\n").v2_quota("/a/b", "300000 100000\n");
  EXPECT_EQ(count().quota_group, "/sys/fs/cgroup/a/b");
  EXPECT_EQ(cores(), 3U);
}

TEST_F(usable_cores, version_2_the_word_max_is_no_quota) {
  process("0::/a\n", v2_mount).v2_quota("/a", "max 100000\n");
  EXPECT_FALSE(count().quota);
  EXPECT_EQ(cores(), 16U);
}

TEST_F(usable_cores, version_2_groups_of_other_processes_do_not_count) {
  process("0::/a\n", v2_mount).v2_quota("/b", "100000 100000\n").v2_quota("/a/child", "100000 100000\n");
  EXPECT_EQ(cores(), 16U);
}

TEST_F(usable_cores, a_quota_is_rounded_down_to_at_least_one_core) {
  process("0::/a\n", v2_mount).v2_quota("/a", "850000 100000\n");
  EXPECT_EQ(cores(), 8U);
  EXPECT_EQ(count().quota, 8.5);
  EXPECT_EQ(v2_quota("/a", "50000 100000\n").cores(), 1U);
  EXPECT_EQ(v2_quota("/a", "1000 1000000\n").cores(), 1U);
  EXPECT_EQ(v2_quota("/a", "30000 10000\n").cores(), 3U) << "a period of its own";
}

TEST_F(usable_cores, a_quota_above_the_affinity_mask_changes_nothing) {
  process("0::/a\n", v2_mount).v2_quota("/a", "6400000 100000\n");
  const core_count found = count();
  EXPECT_EQ(found.cores, 16U);
  EXPECT_EQ(found.quota, 64.0);
  EXPECT_EQ(found.limited_by, "the affinity mask");
  EXPECT_EQ(v2_quota("/a", "9223372036854775807 1\n").cores(), 16U);
}

TEST_F(usable_cores, version_1_the_quota_of_the_own_group_counts) {
  process("9:memory:/m\n4:cpu,cpuacct:/a/b\n1:name=systemd:/s\n", v1_mount).v1_quota("/a/b", "250000\n");
  const core_count found = count();
  EXPECT_EQ(found.cores, 2U);
  EXPECT_EQ(found.quota, 2.5);
  EXPECT_EQ(found.quota_group, "/sys/fs/cgroup/cpu,cpuacct/a/b");
}

TEST_F(usable_cores, version_1_a_tighter_ancestor_counts) {
  process("4:cpu,cpuacct:/a/b\n", v1_mount);
  v1_quota("", "-1\n").v1_quota("/a", "300000\n").v1_quota("/a/b", "-1\n");
  EXPECT_EQ(cores(), 3U);
}

TEST_F(usable_cores, version_1_a_quota_of_minus_one_is_none) {
  process("4:cpu,cpuacct:/\n", v1_mount).v1_quota("", "-1\n");
  EXPECT_FALSE(count().quota);
}

TEST_F(usable_cores, a_controller_whose_name_only_begins_with_cpu_is_not_the_one) {
  process("3:cpuset,cpuacct:/a\n", "31 27 0:28 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpuset,cpuacct\n");
  v1_quota("/a", "100000\n");
  EXPECT_EQ(cores(), 16U);
}

TEST_F(usable_cores, a_hybrid_machine_has_its_quotas_in_version_1) {
  const std::string mounts = std::string(v1_mount) + "33 27 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n";
  process("4:cpu,cpuacct:/user\n0::/user.slice/session\n", mounts);
  file("/sys/fs/cgroup/unified/user.slice/session/cgroup.procs", "1\n").v1_quota("/user", "200000\n");
  EXPECT_EQ(cores(), 2U);
}

TEST_F(usable_cores, the_tighter_of_both_versions_counts) {
  const std::string mounts = std::string(v1_mount) + "33 27 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n";
  process("4:cpu,cpuacct:/one\n0::/two\n", mounts).v1_quota("/one", "500000\n");
  v2_quota("/unified/two", "300000 100000\n");
  EXPECT_EQ(cores(), 3U);
}

TEST_F(usable_cores, in_a_container_with_a_cgroup_namespace_the_own_group_is_the_root_of_the_mount) {
  process("0::/\n", v2_mount).v2_quota("", "200000 100000\n");
  EXPECT_EQ(cores(), 2U);
  EXPECT_EQ(count().quota_group, "/sys/fs/cgroup");
}

TEST_F(usable_cores, in_a_container_without_a_namespace_the_root_of_the_mount_is_the_path_of_the_group) {
  process("4:cpu,cpuacct:/docker/0123\n",
          "31 27 0:28 /docker/0123 /sys/fs/cgroup/cpu,cpuacct ro master:10 - cgroup cgroup rw,cpu,cpuacct\n");
  v1_quota("", "300000\n").v1_quota("/docker/0123", "100000\n");  // the second is another group
  EXPECT_EQ(cores(), 3U);
}

TEST_F(usable_cores, a_group_below_the_root_of_a_mount_is_found) {
  process("0::/kubepods/pod7/main/worker\n", "30 27 0:27 /kubepods/pod7 /sys/fs/cgroup ro - cgroup2 cgroup2 rw\n");
  v2_quota("", "400000 100000\n").v2_quota("/main/worker", "600000 100000\n");
  EXPECT_EQ(cores(), 4U);
  EXPECT_EQ(v2_quota("/main/worker", "200000 100000\n").cores(), 2U);
}

TEST_F(usable_cores, a_mount_of_groups_that_do_not_contain_the_process_does_not_count) {
  process("0::/docker/01234\n", "30 27 0:27 /docker/0123 /sys/fs/cgroup ro - cgroup2 cgroup2 rw\n");
  v2_quota("", "100000 100000\n").v2_quota("/4", "100000 100000\n");
  EXPECT_EQ(cores(), 16U);
}

TEST_F(usable_cores, a_mount_whose_root_is_outside_of_the_namespace_has_an_ancestor_at_its_top) {
  process("0::/\n", "30 27 0:27 /../.. /sys/fs/cgroup ro - cgroup2 cgroup2 rw\n").v2_quota("", "500000 100000\n");
  EXPECT_EQ(cores(), 5U);
  process("0::/\n", "30 27 0:27 /../neighbour /sys/fs/cgroup ro - cgroup2 cgroup2 rw\n");
  EXPECT_EQ(cores(), 16U) << "a neighbour is no ancestor";
}

TEST_F(usable_cores, a_process_outside_of_its_namespace_has_no_group_in_the_mount) {
  process("0::/../neighbour\n", v2_mount).v2_quota("", "100000 100000\n");
  EXPECT_EQ(cores(), 16U);
}

TEST_F(usable_cores, a_mount_may_be_anywhere_and_have_spaces_in_its_name) {
  process("0::/a b\n", "30 27 0:27 / /my\\040groups\\134x rw - cgroup2 none rw\n");
  file("/my groups\\x/a b/cpu.max", "300000 100000\n");
  EXPECT_EQ(cores(), 3U);
}

TEST_F(usable_cores, the_later_of_two_mounts_at_one_place_counts) {
  process("0::/a\n", std::string(v2_mount) + "40 30 0:27 /other /sys/fs/cgroup ro - cgroup2 cgroup2 rw\n");
  v2_quota("", "100000 100000\n");
  EXPECT_EQ(cores(), 16U) << "the group that is seen there is not the process's";
  process("0::/a\n", std::string(v2_mount) + "40 30 0:31 / /sys/fs/cgroup rw - tmpfs tmpfs rw\n");
  EXPECT_EQ(cores(), 16U) << "nothing of the groups is seen there";
}

TEST_F(usable_cores, two_mounts_at_different_places_count_together) {
  process("0::/a/b\n", std::string(v2_mount) + "40 27 0:27 /a /groups ro - cgroup2 cgroup2 rw\n");
  v2_quota("/a", "700000 100000\n").file("/groups/b/cpu.max", "600000 100000\n");
  EXPECT_EQ(cores(), 6U);
  EXPECT_EQ(count().quota_group, "/groups/b");
}

TEST_F(usable_cores, paths_of_groups_may_contain_colons) {
  process("0::/a:b:c\n", v2_mount).v2_quota("/a:b:c", "200000 100000\n");
  EXPECT_EQ(cores(), 2U);
}

TEST_F(usable_cores, a_directory_that_is_missing_does_not_hide_its_ancestors) {
  process("0::/a/gone/b\n", v2_mount).v2_quota("/a", "400000 100000\n");
  EXPECT_EQ(cores(), 4U);
}

TEST_F(usable_cores, garbage_sets_no_quota) {
  for (const char* text : {"", "\n", "max", "100000\n", "a b\n", "1e5 100000\n", "100000 0\n", "0 100000\n",
                           "-5 100000\n", "100000 -100000\n", "99999999999999999999 100000\n", "100000 100000 1\n"}) {
    process("0::/a\n", v2_mount).v2_quota("/a", text);
    EXPECT_EQ(cores(), 16U) << text;
  }
  process("4:cpu,cpuacct:/a\n", v1_mount).v1_quota("/a", "100000\n", "");
  EXPECT_EQ(cores(), 16U);
}

TEST_F(usable_cores, garbage_in_proc_sets_no_quota) {
  for (const char* groups : {"", ":\n", "0:\n", "::\n", "x\n", "0::\n", "\0:\n"}) {
    process(groups, v2_mount).v2_quota("/a", "100000 100000\n");
    EXPECT_EQ(cores(), 16U) << groups;
  }
  for (const char* mounts : {"30\n", "a b c d e f g h i j\n", "30 27 0:27 / /sys/fs/cgroup rw - cgroup2\n",
                             "30 27 0:27 / /sys/fs/cgroup - - - -\n", "30 27 0:27 / \\04 rw - cgroup2 cgroup2 rw\n"}) {
    process("0::/a\n", mounts).v2_quota("/a", "100000 100000\n");
    EXPECT_EQ(cores(), 16U) << mounts;
  }
}

TEST_F(usable_cores, throttled_periods_of_the_groups_with_a_quota_are_reported) {
  process("0::/a/b/c\n", v2_mount).v2_quota("/a", "400000 100000\n").v2_quota("/a/b", "300000 100000\n");
  file("/sys/fs/cgroup/a/cpu.stat", "usage_usec 5\nnr_periods 90\nnr_throttled 17\nthrottled_usec 8\n");
  file("/sys/fs/cgroup/a/b/cpu.stat", "nr_throttled 3\n").file("/sys/fs/cgroup/a/b/c/cpu.stat", "nr_throttled 99\n");
  EXPECT_EQ(count().throttled, 17U) << "a looser ancestor, which others use up, too";
  file("/sys/fs/cgroup/a/cpu.stat", "nr_throttled many\n");
  EXPECT_EQ(count().throttled, 3U);
}

TEST_F(usable_cores, GYRE_THREADS_takes_precedence) {
  process("0::/a\n", v2_mount).v2_quota("/a", "400000 100000\n");
  const core_count found = count("32");
  EXPECT_EQ(found.cores, 32U);
  EXPECT_EQ(found.by_affinity, 16U);
  EXPECT_EQ(found.quota, 4.0);
  EXPECT_EQ(found.limited_by, "GYRE_THREADS");
  EXPECT_EQ(count("1").cores, 1U);
}

TEST_F(usable_cores, an_empty_GYRE_THREADS_and_0_have_no_effect) {
  EXPECT_EQ(count("").limited_by, "the affinity mask");
  EXPECT_EQ(count("0").limited_by, "the affinity mask");
}

TEST_F(usable_cores, a_wrong_GYRE_THREADS_is_an_error_with_the_remedy) {
  EXPECT_EQ(refusal_of("two"),
            "GYRE_THREADS=two: expected a number from 1 to 1024; unset it to use what this process may use");
  for (const char* text : {"-1", "+2", " 2", "2 ", "2.5", "1025", "99999999999999999999", "0x2"})
    EXPECT_TRUE(refusal_of(text).starts_with("GYRE_THREADS=" + std::string(text) + ": ")) << text;
  EXPECT_TRUE(refusal_of("\x1b[31m").starts_with("GYRE_THREADS=\\x1b[31m: "));
}

TEST_F(usable_cores, the_variable_is_read_at_each_call) {
  ::setenv("GYRE_THREADS", "7", 1);
  EXPECT_EQ(gyre::usable_cores(), 7U);
  ::setenv("GYRE_THREADS", "seven", 1);
  EXPECT_THROW((void)gyre::usable_cores(), std::invalid_argument);
  ::unsetenv("GYRE_THREADS");
  EXPECT_NE(gyre::explain_usable_cores().limited_by, "GYRE_THREADS");
}
