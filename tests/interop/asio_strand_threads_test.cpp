// tests/interop/asio_strand_threads_test.cpp: operations whose executor the program names, in a context that several
// threads run: everything that touches the object runs on that executor. Lost serialization is a data race, which only
// the thread sanitizer reports reliably.
#include <gyre/interop/asio.hpp>

#include "tests/interop/asio_support.hpp"
#include "tests/support/cancels.hpp"
#include "tests/support/co_assert.hpp"

#include <asio/experimental/as_tuple.hpp>

#include <atomic>
#include <memory>
#include <string>
#include <thread>

using namespace gyre_test;

namespace {

using strand_of_pool = asio::strand<asio::thread_pool::executor_type>;

struct noted_places {
  std::atomic<bool> begun = false;
  bool began_there = false;
  bool cancelled_there = false;
  bool continued_there = false;
};

/// Begins an operation on an object with the given executor. It ends when it is cancelled, and notes which of its parts
/// ran on the strand.
template <class Executor>
struct initiate_and_note {
  using executor_type = Executor;
  Executor executor;
  strand_of_pool strand;
  noted_places* noted;

  [[nodiscard]] executor_type get_executor() const noexcept { return executor; }
  template <class Handler>
  void operator()(Handler handler) const {
    noted->began_there = strand.running_in_this_thread();
    const auto continues_on = asio::get_associated_executor(handler, executor);
    auto slot = asio::get_associated_cancellation_slot(handler);
    auto kept = std::make_shared<Handler>(std::move(handler));
    slot.assign([=, there = strand, to = noted](asio::cancellation_type_t) {
      to->cancelled_there = there.running_in_this_thread();
      asio::post(continues_on, [=] {
        to->continued_there = there.running_in_this_thread();
        std::move (*kept)(asio::error::operation_aborted);
      });
    });
    noted->begun = true;
  }
};

/// Begins an operation on an object with `executor`, cancels it, and expects that all of it ran on the strand.
template <class Executor, class Token>
gyre::task<> expect_all_on(strand_of_pool strand, Executor executor, Token token) {
  noted_places noted;
  auto waits = [&]() -> gyre::task<> {
    initiate_and_note<Executor> begin{executor, strand, &noted};
    co_await asio::async_initiate<Token, void(std::error_code)>(std::move(begin), token);
  };
  auto task = gyre::spawn(waits);
  while (!noted.begun) co_await gyre::yield();
  (void)co_await cancel_and_wait(task);
  EXPECT_TRUE(noted.began_there);
  EXPECT_TRUE(noted.cancelled_there);
  EXPECT_TRUE(noted.continued_there);
}

}  // namespace

TEST(asio_strand_threads, a_bound_executor_begins_continues_and_cancels_in_place_of_the_executor_of_the_object) {
  asio::thread_pool pool(2);
  auto strand = asio::make_strand(pool);
  gyre::run([&]() -> gyre::task<> {
    co_await expect_all_on(strand, pool.get_executor(), asio::bind_executor(strand, gyre::use_gyre));
  });
}

TEST(asio_strand_threads, the_outermost_of_several_bound_executors_counts_as_in_asio) {
  asio::thread_pool pool(2);
  auto strand = asio::make_strand(pool);
  auto other = asio::make_strand(pool);
  gyre::run([&]() -> gyre::task<> {
    co_await expect_all_on(strand, pool.get_executor(),
                           asio::bind_executor(strand, asio::bind_executor(other, gyre::use_gyre)));
    co_await expect_all_on(strand, pool.get_executor(), asio::bind_executor(strand, gyre::use_gyre_on(other)));
  });
}

TEST(asio_strand_threads, an_executor_is_bound_inside_and_outside_of_other_adapters) {
  asio::thread_pool pool(2);
  auto strand = asio::make_strand(pool);
  gyre::run([&]() -> gyre::task<> {
    using asio::experimental::as_tuple;
    co_await expect_all_on(strand, pool.get_executor(), asio::bind_executor(strand, as_tuple(gyre::use_gyre)));
    co_await expect_all_on(strand, pool.get_executor(), as_tuple(asio::bind_executor(strand, gyre::use_gyre)));
    co_await expect_all_on(
        strand, pool.get_executor(),
        asio::bind_executor(strand, as_tuple(asio::bind_executor(pool.get_executor(), gyre::use_gyre))));
  });
}

TEST(asio_strand_threads, use_gyre_on_continues_an_operation_on_its_executor_too) {
  asio::thread_pool pool(2);
  auto strand = asio::make_strand(pool);
  gyre::run([&]() -> gyre::task<> { co_await expect_all_on(strand, pool.get_executor(), gyre::use_gyre_on(strand)); });
}

TEST(asio_strand_threads, a_bound_system_executor_leaves_the_operation_to_the_executor_of_the_object) {
  asio::thread_pool pool(2);
  auto strand = asio::make_strand(pool);
  gyre::run([&]() -> gyre::task<> {
    co_await expect_all_on(strand, strand, asio::bind_executor(asio::system_executor(), gyre::use_gyre));
  });
}

TEST(asio_strand_threads, every_cancel_between_the_parts_of_a_composed_operation_arrives) {
  using stream = asio::local::stream_protocol::socket;
  asio::thread_pool pool(4);
  gyre::run([&]() -> gyre::task<> {
    for (int i = 0; i < 150; ++i) {
      auto strand = asio::make_strand(pool);
      stream reader(pool);  // its own executor serializes nothing
      stream writer(pool);
      asio::local::connect_pair(reader, writer);
      std::atomic<bool> enough = false;
      std::thread feeder([&] {  // byte by byte, so that the operation continues all the time
        std::error_code full;
        writer.non_blocking(true);
        while (!enough) writer.write_some(asio::buffer("x", 1), full);
      });
      std::string bytes(1 << 20, '-');
      auto read = asio::async_read(reader, asio::buffer(bytes), asio::bind_executor(strand, gyre::use_gyre));
      const auto n = co_await gyre::as_expected(gyre::timeout(std::chrono::microseconds(i % 50 * 10), std::move(read)));
      enough = true;
      feeder.join();
      CO_ASSERT_FALSE(n.has_value());
      EXPECT_EQ(n.error(), std::errc::timed_out);
    }
  });
}
