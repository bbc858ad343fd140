// tests/stream/other_loop_threads_test.cpp: streams that the loops of several threads use.
#include <gyre/stream/memory_stream.hpp>
#include <gyre/stream/stream_reader.hpp>
#include <gyre/stream/stream_writer.hpp>

#include "tests/support/two_loops.hpp"

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <utility>

using namespace gyre_test;
using gyre::task;

namespace {

std::array<std::byte, 4> room;

// Marks the stream as used by the running loop.
task<> write_to(gyre::memory_stream& stream) { (void)co_await stream.write_all(room); }

class other_loop_streams_death : public testing::Test {
 protected:
  std::optional<gyre::memory_pair> pair_;
  std::optional<gyre::stream_reader> reader_;
  std::optional<gyre::stream_writer> writer_;

  void make_used_pair() {
    pair_.emplace();
    gyre::spawn(write_to(pair_->first), {.eager = true}).detach();
  }
};

}  // namespace

TEST_F(other_loop_streams_death, a_memory_stream_stops_the_program) {
  const char* const name = "a memory_stream";
  const auto first = [&] { make_used_pair(); };
  expect_stop_in_await(
      first, [&]() -> task<> { (void)co_await pair_->second.read_some(std::span(room)); },
      elsewhere("read_some", name));
  expect_stop_in_await(
      first, [&]() -> task<> { (void)co_await pair_->first.write_all(room); }, elsewhere("write_all", name));
  expect_stop_in_await(
      first, [&]() -> task<> { co_await pair_->first.shutdown_write(); }, elsewhere("shutdown_write", name));
  expect_stop(first, [&] { pair_->first.abort(); }, elsewhere("abort", name));
  expect_stop(first, [&] { pair_.reset(); }, elsewhere("destructor", name));
}

TEST_F(other_loop_streams_death, a_stream_reader_with_buffered_data_stops_a_debug_build) {
  if (!gyre::checks_everything) GTEST_SKIP() << "a check of debug builds";
  const auto first = [&] {
    pair_.emplace();
    reader_.emplace(gyre::any_stream(std::move(pair_->first)));
    (void)reader_->buffered();
  };
  const char* const name = "a stream_reader";
  expect_stop_in_await(first, [&]() -> task<> { (void)co_await reader_->read(); }, elsewhere("read", name));
  expect_stop_in_await(
      first, [&]() -> task<> { (void)co_await reader_->read_exactly(1); }, elsewhere("read_exactly", name));
  expect_stop_in_await(
      first, [&]() -> task<> { (void)co_await reader_->read_until("x"); }, elsewhere("read_until", name));
  expect_stop_in_await(first, [&]() -> task<> { (void)co_await reader_->read_line(); }, elsewhere("read_line", name));
  expect_stop_in_await(first, [&]() -> task<> { (void)co_await reader_->read_all(9); }, elsewhere("read_all", name));
  expect_stop(first, [&] { (void)reader_->at_eof(); }, elsewhere("buffered", name));
}

TEST_F(other_loop_streams_death, a_stream_writer_stops_a_debug_build) {
  if (!gyre::checks_everything) GTEST_SKIP() << "a check of debug builds";
  const auto first = [&] {
    pair_.emplace();
    writer_.emplace(gyre::any_stream(std::move(pair_->first)));
    (void)writer_->buffered();
  };
  const char* const name = "a stream_writer";
  expect_stop(first, [&] { writer_->write("x"); }, elsewhere("write", name));
  expect_stop(first, [&] { writer_->close(); }, elsewhere("close", name));
  expect_stop(first, [&] { writer_->abort(); }, elsewhere("abort", name));
  expect_stop(first, [&] { writer_.reset(); }, elsewhere("destructor", name));
  expect_stop_in_await(first, [&]() -> task<> { co_await writer_->drain(); }, elsewhere("drain", name));
  expect_stop_in_await(first, [&]() -> task<> { co_await writer_->flush(); }, elsewhere("flush", name));
}

TEST(other_loop_streams, a_memory_pair_may_be_used_on_one_loop_after_the_other) {
  std::optional<gyre::memory_pair> pair(std::in_place);
  const auto use = [&] {
    gyre::run([&]() -> task<> {
      co_await write_to(pair->first);
      EXPECT_EQ(co_await pair->second.read_some(std::span(room)), room.size());
    });
  };
  use();
  std::thread(use).join();
  use();
  std::thread([&] { pair.reset(); }).join();
}
