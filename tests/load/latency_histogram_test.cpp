// tests/load/latency_histogram_test.cpp: percentiles of the latencies of `gyre load`.
#include "programs/gyre/load/latency_histogram.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

using programs::latency_histogram;
using std::chrono::nanoseconds;

TEST(latency_histogram, without_latencies_reports_zero) {
  const latency_histogram none;
  EXPECT_EQ(none.count(), 0U);
  EXPECT_EQ(none.percentile(0.99), nanoseconds(0));
  EXPECT_EQ(none.mean(), nanoseconds(0));
  EXPECT_EQ(none.shortest(), nanoseconds(0));
  EXPECT_EQ(none.longest(), nanoseconds(0));
}

TEST(latency_histogram, has_percentiles_within_one_percent_of_the_sorted_latencies) {
  std::mt19937_64 random(7);
  std::lognormal_distribution<double> distribution(13, 2);  // 10 us to 10 s
  latency_histogram counted;
  std::vector<double> all;
  for (int i = 0; i < 100'000; ++i) {
    const double value = std::floor(distribution(random));
    all.push_back(value);
    counted.add(nanoseconds(static_cast<long>(value)));
  }
  std::ranges::sort(all);
  for (const double share : {0.001, 0.1, 0.5, 0.9, 0.99, 0.999, 0.9999, 1.0}) {
    const double exact = all[static_cast<std::size_t>(std::ceil(share * 100'000)) - 1];
    EXPECT_NEAR(static_cast<double>(counted.percentile(share).count()), exact, exact * 0.01) << share;
  }
  EXPECT_EQ(counted.percentile(1), counted.longest());
  EXPECT_EQ(static_cast<double>(counted.shortest().count()), all.front());
  EXPECT_EQ(static_cast<double>(counted.longest().count()), all.back());
}

TEST(latency_histogram, small_latencies_are_exact) {
  latency_histogram counted;
  for (int i = 0; i <= 127; ++i) counted.add(nanoseconds(i));
  for (int i = 1; i <= 128; ++i) EXPECT_EQ(counted.percentile(i / 128.0), nanoseconds(i - 1));
}

TEST(latency_histogram, of_several_loops_is_that_of_all_latencies) {
  latency_histogram whole;
  latency_histogram first;
  latency_histogram second;
  for (int i = 1; i <= 10'000; ++i) {
    whole.add(nanoseconds(i * 1000));
    (i % 3 == 0 ? first : second).add(nanoseconds(i * 1000));
  }
  first.add(second);
  EXPECT_EQ(first.count(), whole.count());
  EXPECT_EQ(first.mean(), whole.mean());
  EXPECT_EQ(first.shortest(), whole.shortest());
  EXPECT_EQ(first.longest(), whole.longest());
  for (const double share : {0.01, 0.5, 0.99}) EXPECT_EQ(first.percentile(share), whole.percentile(share));
}

TEST(latency_histogram, counts_extreme_latencies_in_the_first_and_the_last_bucket) {
  latency_histogram counted;
  counted.add(nanoseconds(-5));
  counted.add(nanoseconds::max());
  EXPECT_EQ(counted.count(), 2U);
  EXPECT_EQ(counted.percentile(0.5), nanoseconds(0));
  EXPECT_EQ(counted.longest(), nanoseconds::max());
}
