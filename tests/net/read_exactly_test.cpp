// tests/net/read_exactly_test.cpp: read_exactly behaves the same for everything that can be read, whatever the size.
#include "tests/net/connected_pair.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <string>
#include <string_view>
#include <utility>

using namespace gyre_test;
using gyre::task;

namespace {

/// Reads from a stream into a buffer, as all of these tests do.
template <class Stream>
task<std::string> fill(Stream& stream, std::size_t size) {
  std::string text(size, '-');
  const std::size_t count = co_await stream.read_exactly(std::as_writable_bytes(std::span(text)));
  EXPECT_EQ(count, size);
  co_return text;
}

template <class Stream>
task<> say_all(Stream& stream, std::string text) {
  (void)co_await stream.write_all(bytes_of(text));
  co_await stream.shutdown_write();
}

struct over_tcp {
  connected_pair pair;
  static task<over_tcp> with(std::string text) {
    connected_pair made = co_await connect_pair();
    co_await say_all(made.client, std::move(text));
    co_return over_tcp{std::move(made)};
  }
  task<std::string> exactly(std::size_t size) { co_return co_await fill(pair.server, size); }
};

struct over_unix {
  gyre::unix_stream_pair pair;
  static task<over_unix> with(std::string text) {
    gyre::unix_stream_pair made = gyre::unix_stream::pair();
    co_await say_all(made.first, std::move(text));
    co_return over_unix{std::move(made)};
  }
  task<std::string> exactly(std::size_t size) { co_return co_await fill(pair.second, size); }
};

struct over_file {
  gyre::fs::file file;
  static task<over_file> with(std::string text) {
    gyre::fs::file made = gyre::fs::file::from_fd(::memfd_create("read_exactly", MFD_CLOEXEC), "memory");
    co_await made.write_all(text);
    made.set_position(0);
    co_return over_file{std::move(made)};
  }
  task<std::string> exactly(std::size_t size) { co_return co_await fill(file, size); }
};

struct over_memory {
  gyre::memory_pair pair;
  static task<over_memory> with(std::string text) {
    gyre::memory_pair made;
    co_await say_all(made.first, std::move(text));
    co_return over_memory{std::move(made)};
  }
  task<std::string> exactly(std::size_t size) { co_return co_await fill(pair.second, size); }
};

struct over_reader {
  gyre::memory_stream far;
  gyre::stream_reader reader;
  static task<over_reader> with(std::string text) {
    gyre::memory_pair made;
    co_await say_all(made.first, std::move(text));
    co_return over_reader{std::move(made.first), gyre::stream_reader(gyre::any_stream(std::move(made.second)))};
  }
  task<std::string> exactly(std::size_t size) { co_return co_await reader.read_exactly(size); }
};

template <class Source>
class read_exactly : public testing::Test {};
using sources = testing::Types<over_tcp, over_unix, over_file, over_memory, over_reader>;
TYPED_TEST_SUITE(read_exactly, sources);

constexpr std::string_view three = "abc";

}  // namespace

TYPED_TEST(read_exactly, gives_all_of_it_when_that_many_bytes_come) {
  run_test([]() -> task<> {
    for (const std::size_t size : {0U, 1U, 2U}) {
      for (std::size_t there = size; there <= three.size(); ++there) {
        auto source = co_await TypeParam::with(std::string(three.substr(0, there)));
        EXPECT_EQ(co_await source.exactly(size), three.substr(0, size));
      }
    }
  });
}

TYPED_TEST(read_exactly, throws_incomplete_transfer_when_the_stream_ends_before) {
  run_test([]() -> task<> {
    for (const std::size_t size : {1U, 2U}) {
      for (std::size_t there = 0; there < size; ++there) {
        auto source = co_await TypeParam::with(std::string(three.substr(0, there)));
        std::size_t transferred = 100;
        try {
          (void)co_await source.exactly(size);
        } catch (const gyre::incomplete_transfer& error) {
          transferred = error.transferred();
          EXPECT_EQ(error.code(), gyre::stream_errc::end_of_stream);
        }
        EXPECT_EQ(transferred, there) << "of " << size;
      }
    }
  });
}

TYPED_TEST(read_exactly, fails_again_at_an_end_that_was_seen_before) {
  run_test([]() -> task<> {
    auto source = co_await TypeParam::with("a");
    EXPECT_EQ(co_await source.exactly(1), "a");
    EXPECT_EQ(co_await source.exactly(0), "");
    for (int i = 0; i < 2; ++i) {
      auto again = source.exactly(1);
      EXPECT_NE(co_await error_of(std::move(again)), "") << "a byte that nobody has sent";
    }
  });
}
