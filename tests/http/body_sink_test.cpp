// tests/http/body_sink_test.cpp: writes a body to a sink of the test's own, which no protocol carries.
#include <gyre/fs/file.hpp>
#include <gyre/http/body_sink.hpp>
#include <gyre/http/body_writer.hpp>
#include <gyre/io/io_error.hpp>

#include "tests/http/memory_file.hpp"
#include "tests/support/virtual_run.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>
#include <string>

using namespace gyre_test;
namespace http = gyre::http;

namespace {

/// Gathers what is written, up to a failure.
struct gathering_sink final : http::body_sink {
  gyre::task<> write(std::string_view piece) override {
    if (failure) throw gyre::io_error(failure, "write", "the test");
    text += piece;
    co_return;
  }
  void append(std::string_view piece) override { text += piece; }
  gyre::task<> flush() override { co_return; }
  [[nodiscard]] std::size_t waiting() const noexcept override { return waits; }
  [[nodiscard]] std::error_code error() const noexcept override { return failure; }
  void push() noexcept override { waits -= std::min(waits, taken_by_push); }

  std::string text;
  std::error_code failure;
  std::size_t waits = 0;
  std::size_t taken_by_push = 0;
};

}  // namespace

TEST(body_sink, a_writer_passes_pieces_on_and_counts_them) {
  gathering_sink sink;
  run_virtual([&]() -> gyre::task<> {
    http::body_writer writer(sink);
    co_await writer.write("one ");
    writer.append("two");
    co_await writer.flush();
    EXPECT_EQ(writer.written(), 7U);
    EXPECT_FALSE(writer.is_cut_off());
    EXPECT_EQ(writer.bulk_socket(), nullptr);
  });
  EXPECT_EQ(sink.text, "one two");
}

TEST(body_sink, a_writer_passes_on_no_byte_beyond_the_announced_length) {
  gathering_sink sink;
  run_virtual([&]() -> gyre::task<> {
    http::body_writer writer(sink, 3);
    co_await writer.write("123");
    EXPECT_THROW(writer.append("4"), std::logic_error);
  });
  EXPECT_EQ(sink.text, "123");
}

TEST(body_sink, a_failed_write_and_each_later_one_have_the_code_of_the_failure) {
  gathering_sink sink;
  sink.failure = std::make_error_code(std::errc::network_unreachable);
  run_virtual([&]() -> gyre::task<> {
    http::body_writer writer(sink);
    for (int i = 0; i < 2; ++i) {
      try {
        co_await writer.write("x");
        ADD_FAILURE() << "it was written";
      } catch (const gyre::io_error& error) {
        EXPECT_EQ(error.code(), std::errc::network_unreachable);
      }
    }
    EXPECT_TRUE(writer.is_cut_off());
  });
}

TEST(body_sink, a_writer_appends_only_when_the_sink_can_make_room) {
  gathering_sink sink;
  run_virtual([&]() -> gyre::task<> {
    http::body_writer writer(sink);
    sink.waits = http::body_writer::max_waiting;
    EXPECT_THROW(writer.append("x"), gyre::io_error);
    sink.taken_by_push = 1;
    writer.append("x");
    co_return;
  });
  EXPECT_EQ(sink.text, "x");
}

TEST(body_sink, a_file_is_read_in_pieces_by_a_sink_that_has_to_see_its_bytes) {
  std::string text(200'000, 'x');
  text.front() = 'a';
  text.back() = 'z';
  gathering_sink sink;
  run_virtual([&]() -> gyre::task<> {
    const gyre::fs::file file = file_of(text);
    http::body_writer writer(sink);
    co_await writer.send_file(file, 0, text.size());
    try {
      co_await writer.send_file(file, text.size() - 1, 2);
      ADD_FAILURE() << "the file has no such part";
    } catch (const gyre::io_error& error) {
      EXPECT_EQ(error.code(), std::errc::io_error);
    }
  });
  EXPECT_EQ(sink.text, text + "z");
}
