// tests/runtime/usable_cores_test.cpp: affinity masks, processor quotas, malformed files, and GYRE_THREADS.
#include "tests/runtime/faked_cores.hpp"

#include <sched.h>
#include <stdlib.h>

#include <cerrno>
#include <stdexcept>
#include <string>
#include <thread>

using namespace gyre_test;
using gyre::core_count;

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
