// tests/encryption/failed_handshakes_test.cpp: the lines that servers print about handshakes that fail.
#include "programs/encryption/failed_handshakes.hpp"
#include "tests/support/virtual_run.hpp"

#include <algorithm>
#include <optional>
#include <string>

using namespace gyre_test;

namespace {

void fail(programs::failed_handshakes& log, int count) {
  const auto peer = gyre::address::parse("192.0.2.7:1234").value();
  for (int i = 0; i < count; ++i) log.handshake_failed({.peer = peer, .reason = "no \x1b certificate"});
}

std::string printed() { return testing::internal::GetCapturedStderr(); }

const std::string line = "TLS handshake with 192.0.2.7:1234 failed: no \\x1b certificate\n";

std::string lines(int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += line;
  return text;
}

}  // namespace

TEST(failed_handshakes, are_printed_up_to_ten_in_a_minute_and_then_counted) {
  run_virtual([]() -> gyre::task<> {
    programs::failed_handshakes log;
    auto minutes = gyre::spawn(log.count_minutes());
    testing::internal::CaptureStderr();
    fail(log, 10);
    EXPECT_EQ(printed(), lines(10));
    testing::internal::CaptureStderr();
    fail(log, 1000);
    EXPECT_EQ(printed(), "");
    testing::internal::CaptureStderr();
    co_await gyre::sleep(61s);
    EXPECT_EQ(printed(), "1000 more TLS handshakes failed within the same minute\n");
    testing::internal::CaptureStderr();
    fail(log, 1);
    co_await gyre::sleep(10min);
    EXPECT_EQ(printed(), line);
    minutes.cancel();
    co_await minutes.wait();
  });
}

TEST(failed_handshakes, that_were_not_printed_are_counted_at_the_end) {
  testing::internal::CaptureStderr();
  {
    programs::failed_handshakes log;
    fail(log, 12);
  }
  EXPECT_EQ(printed(), lines(10) + "2 more TLS handshakes failed within the same minute\n");
}

TEST(failed_handshakes, appear_in_the_metrics) {
  testing::internal::CaptureStderr();
  programs::failed_handshakes log;
  fail(log, 5);
  EXPECT_NE(log.metrics().find("\ntls_handshakes_failed_total 5\n"), std::string::npos);
  (void)printed();
}
