// tests/runtime/cgroup_quota_test.cpp: processor quotas of cgroups of both versions, wherever they are mounted.
#include "tests/runtime/faked_cores.hpp"

#include <string>

using namespace gyre_test;
using gyre::core_count;

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
