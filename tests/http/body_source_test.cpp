// tests/http/body_source_test.cpp: reads a body from a source of the test's own, which no protocol carries.
#include <gyre/http/body_reader.hpp>
#include <gyre/http/body_source.hpp>
#include <gyre/http/status_error.hpp>
#include <gyre/loop/yield.hpp>

#include "tests/support/virtual_run.hpp"

#include <gtest/gtest.h>

#include <array>
#include <deque>
#include <initializer_list>
#include <string>

using namespace gyre_test;
namespace http = gyre::http;

namespace {

/// Gives these pieces, each after a turn of the loop.
class pieces final : public http::body_source {
 public:
  pieces(std::initializer_list<std::string> all) : coming_(all) {}

  std::string_view take(std::size_t max) override {
    const std::string_view piece = arrived_.substr(0, max);
    arrived_.remove_prefix(piece.size());
    return piece;
  }
  gyre::task<> wait() override {
    co_await gyre::yield_turn();
    ++waits;
    if (coming_.empty()) {
      ended_ = true;
      co_return;
    }
    piece_ = std::move(coming_.front());
    coming_.pop_front();
    arrived_ = piece_;
  }
  [[nodiscard]] bool at_end() const noexcept override { return ended_ && arrived_.empty(); }
  [[nodiscard]] bool failed() const noexcept override { return given_up; }
  [[nodiscard]] std::optional<std::uint64_t> length() const noexcept override { return announced; }
  void give_up() noexcept override { given_up = true; }

  std::optional<std::uint64_t> announced;
  int waits = 0;
  bool given_up = false;

 private:
  std::deque<std::string> coming_;
  std::string piece_;
  std::string_view arrived_;
  bool ended_ = false;
};

constexpr std::uint64_t no_limit = ~std::uint64_t{0};

int status_of_reading(pieces& source, std::uint64_t limit) {
  int status = 0;
  run_virtual([&]() -> gyre::task<> {
    http::body_reader body(source, limit);
    try {
      (void)co_await body.read_all();
    } catch (const http::status_error& error) {
      status = error.status();
    }
  });
  return status;
}

}  // namespace

TEST(body_source, a_reader_waits_for_each_piece_and_joins_them) {
  pieces source{"one ", "two ", "three"};
  run_virtual([&]() -> gyre::task<> {
    http::body_reader body(source, no_limit);
    const std::string all = co_await body.read_all();
    EXPECT_EQ(all, "one two three");
    EXPECT_TRUE(body.at_end());
    EXPECT_EQ(body.received(), 13U);
  });
  EXPECT_EQ(source.waits, 4);
}

TEST(body_source, a_reader_with_a_buffer_takes_no_more_than_fits) {
  pieces source{"0123456789"};
  run_virtual([&]() -> gyre::task<> {
    http::body_reader body(source, no_limit);
    std::array<std::byte, 4> buffer{};
    for (const std::size_t expected : {4U, 4U, 2U, 0U}) {
      const std::size_t size = co_await body.read_some(buffer);
      EXPECT_EQ(size, expected);
    }
  });
  EXPECT_EQ(source.waits, 2);
}

TEST(body_source, a_body_beyond_the_limit_is_given_up_when_it_exceeds_it) {
  pieces source{"12345", "6"};
  EXPECT_EQ(status_of_reading(source, 5), 413);
  EXPECT_TRUE(source.given_up);
}

TEST(body_source, a_body_that_announces_too_much_is_refused_before_it_is_awaited) {
  pieces source{"12345", "6"};
  source.announced = 6;
  EXPECT_EQ(status_of_reading(source, 5), 413);
  EXPECT_EQ(source.waits, 0);
}

TEST(body_source, a_source_has_no_trailers_and_no_bulk_unless_it_says_so) {
  pieces source{"x"};
  run_virtual([&]() -> gyre::task<> {
    http::body_reader body(source, no_limit);
    co_await body.ask_for_it();
    EXPECT_TRUE(body.trailers().empty());
    EXPECT_EQ(body.bulk_socket(), nullptr);
    const std::string_view piece = co_await body.receive();
    EXPECT_EQ(piece, "x");
  });
}
