// tests/coro/conversion_test.cpp: values convert implicitly, as by `return`, wherever a task, a promise, a callback or
// a loop_local stores them.
#include <gyre/gyre.hpp>

#include "tests/support/virtual_run.hpp"

#include <optional>
#include <string>

using namespace gyre_test;

namespace {

/// Records how it was made. An explicit constructor fits an int better than the implicit one.
struct made {
  explicit made(int) : how("explicitly") {}
  made(double) : how("implicitly") {}  // NOLINT(google-explicit-constructor): that is the test
  made(made&& other) noexcept : how(other.how), moves(other.moves + 1) {}
  made& operator=(made&&) = delete;
  ~made() = default;

  const char* how;
  int moves = 0;
};

/// Can neither be copied nor moved.
struct fixed {
  fixed(int n) : number(n) {}  // NOLINT(google-explicit-constructor): that is the test
  fixed& operator=(fixed&&) = delete;
  int number;
};

struct pair {
  int first;
  int second;
};

/// Converts to `made` by itself, without a move.
struct maker {
  operator made() const { return {1.5}; }  // NOLINT(google-explicit-constructor): that is the test
};

gyre::task<made> converted() { co_return 1; }
gyre::task<made> converted_by_the_source() { co_return maker(); }
gyre::task<pair> braced() { co_return {1, 2}; }
gyre::task<std::optional<std::string>> twice_converted() { co_return "text"; }

}  // namespace

TEST(implicit_conversion, by_co_return_ignores_an_explicit_constructor_that_fits_better) {
  run_virtual([]() -> gyre::task<> {
    const made value = co_await converted();
    EXPECT_STREQ(value.how, "implicitly");
    EXPECT_EQ(value.moves, 1) << "out of the frame";
  });
}

TEST(implicit_conversion, by_co_return_of_a_value_that_converts_by_itself_moves_only_out_of_the_frame) {
  run_virtual([]() -> gyre::task<> { EXPECT_EQ((co_await converted_by_the_source()).moves, 1); });
}

TEST(implicit_conversion, by_co_return_takes_braces_and_conversions_of_the_result) {
  run_virtual([]() -> gyre::task<> {
    EXPECT_EQ((co_await braced()).second, 2);
    EXPECT_EQ(co_await twice_converted(), "text");
  });
}

TEST(implicit_conversion, by_a_promise_ignores_an_explicit_constructor_that_fits_better) {
  run_virtual([]() -> gyre::task<> {
    gyre::promise<made> promise;
    auto future = promise.get_future();
    EXPECT_TRUE(promise.set_value(1));
    const made& value = co_await future;
    EXPECT_STREQ(value.how, "implicitly");
    EXPECT_EQ(value.moves, 0);
  });
}

TEST(implicit_conversion, by_a_promise_holds_a_value_that_cannot_be_moved) {
  run_virtual([]() -> gyre::task<> {
    gyre::promise<fixed> promise;
    auto future = promise.get_future();
    EXPECT_TRUE(promise.set_value(7));
    EXPECT_EQ((co_await future).number, 7);
  });
}

TEST(implicit_conversion, by_a_callback_ignores_an_explicit_constructor_that_fits_better) {
  run_virtual([]() -> gyre::task<> {
    auto begin = [](const gyre::awaited_callback<made>& done) { done(1); };
    const made value = co_await gyre::from_callback<made>(begin);
    EXPECT_STREQ(value.how, "implicitly");
  });
}

TEST(implicit_conversion, by_a_callback_passes_several_arguments_to_the_constructor) {
  run_virtual([]() -> gyre::task<> {
    auto begin = [](const gyre::awaited_callback<std::string>& done) { done(3U, 'x'); };
    EXPECT_EQ(co_await gyre::from_callback<std::string>(begin), "xxx");
  });
}

TEST(implicit_conversion, by_generators_ignores_an_explicit_constructor_that_fits_better) {
  run_virtual([]() -> gyre::task<> {
    auto now = []() -> gyre::generator<made> { co_yield 1; };
    for (const made& value : now()) EXPECT_STREQ(value.how, "implicitly");
    auto later = []() -> gyre::async_generator<made> { co_yield 1; };
    auto values = later();
    while (const made* value = co_await values.next()) EXPECT_STREQ(value->how, "implicitly");
  });
}

TEST(implicit_conversion, by_a_loop_local_ignores_an_explicit_constructor_that_fits_better) {
  run_virtual([]() -> gyre::task<> {
    const auto one = [] { return 1; };
    const gyre::loop_local<made, decltype(one)> values(one);
    EXPECT_STREQ(values->how, "implicitly");
    EXPECT_EQ(values->moves, 0);
    co_return;
  });
}
