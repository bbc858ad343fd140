// tests/tls/stream_cancel_test.cpp: cancels and cut-off writes of an encrypted stream.
#include <gyre/testing/cancel_at_every_await.hpp>

#include "tests/support/seeds.hpp"
#include "tests/tls/conversation.hpp"
#include "tests/tls/gated_ends.hpp"

#include <array>

using namespace gyre_test;

TEST(tls_stream, a_cancelled_read_takes_nothing) {
  run_tls([]() -> gyre::task<> {
    tls_pair pair = co_await shake_hands();
    std::array<char, 10> buffer{};
    for (int i = 0; i < 3; ++i) {
      auto reader =
          gyre::spawn([&]() -> gyre::task<> { (void)co_await pair.server.read_some(std::span<char>(buffer)); });
      co_await gyre::yield();
      reader.cancel();
      co_await reader.wait();
    }
    co_await pair.client.write_all("all of it");
    EXPECT_EQ(co_await pair.server.read_exactly(std::span<char>(buffer).first(9)), 9U);
    EXPECT_EQ(std::string_view(buffer.data(), 9), "all of it");
  });
}

// The tickets of the server leave after its handshake.
TEST(tls_stream, a_read_that_is_cancelled_before_the_tickets_have_left_does_not_end_the_writing_side) {
  run_tls([]() -> gyre::task<> {
    gated_ends between;
    const auto ask = [&]() -> gyre::task<std::string> {
      auto stream = co_await between.connect();
      co_await stream.write_all(std::string_view("x"));
      co_return co_await read_to_end(stream);
    };
    auto client = gyre::spawn(ask);
    auto server = co_await between.accept();
    between.gate.clear();
    std::array<char, 8> buffer{};
    EXPECT_EQ(co_await server.read_some(std::span<char>(buffer)), 1U);
    const auto read = [&]() -> gyre::task<> { (void)co_await server.read_some(std::span<char>(buffer)); };
    auto reader = gyre::spawn(read);
    co_await gyre::sleep(1ms);
    auto writer = gyre::spawn(write_and_end(server, "hello"));
    co_await gyre::sleep(1ms);
    reader.cancel();
    co_await reader.wait();
    between.gate.set();
    co_await writer;
    EXPECT_EQ(co_await client, "hello");
  });
}

TEST(tls_stream, a_write_that_waits_while_another_is_cut_off_reports_that) {
  run_tls([]() -> gyre::task<> {
    gated_ends between;
    const auto ask = [&]() -> gyre::task<> {
      auto stream = co_await between.connect();
      EXPECT_NE(co_await error_of(read_to_end(stream)), "");
    };
    auto client = gyre::spawn(ask);
    auto server = co_await between.accept();
    between.gate.clear();
    const auto write = [&]() -> gyre::task<> { co_await server.write_all(std::string_view("first")); };
    auto first = gyre::spawn(write);
    co_await gyre::sleep(1ms);
    auto second = gyre::spawn(error_of(server.write_all(std::string_view("second"))));
    auto last = gyre::spawn(error_of(server.shutdown_write()));
    co_await gyre::sleep(1ms);
    first.cancel();
    co_await first.wait();
    between.gate.set();
    EXPECT_NE((co_await second).find("write_all"), std::string::npos);
    EXPECT_NE((co_await last).find("shutdown_write"), std::string::npos);
    server.abort();
    co_await client;
  });
}

TEST(tls_stream, a_cancelled_write_cuts_the_stream_off) {
  run_tls([]() -> gyre::task<> {
    tls_pair pair = co_await shake_hands(server_with_certificate(), client_that_trusts(), "server.test", 1000);
    auto writer = gyre::spawn([&]() -> gyre::task<> { co_await pair.client.write_all(std::string(100'000, 'x')); });
    for (int i = 0; i < 5; ++i) co_await gyre::yield();
    writer.cancel();
    co_await writer.wait();
    EXPECT_EQ(co_await error_of(pair.client.write_all("more")),
              "write_all server.test: an earlier write_all was cancelled half-way; close the stream");
  });
}

TEST(tls_stream, a_cancel_at_any_step_of_a_handshake_leaves_nothing) {
  auto scenario = []() -> gyre::task<> {
    tls_pair pair = co_await shake_hands(server_with_certificate(), client_that_trusts(), "server.test", 3000);
    co_await pair.client.write_all("abc");
    std::array<char, 3> bytes{};
    (void)co_await pair.server.read_exactly(std::span<char>(bytes));
  };
  gyre::testing::cancel_report report;
  EXPECT_NO_THROW(report = gyre::testing::cancel_at_every_await(scenario, [](bool) {}));
  EXPECT_GE(report.cancelled, 5U);
}
