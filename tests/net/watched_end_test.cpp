// tests/net/watched_end_test.cpp: a watcher of a stream's end is notified, whatever others have read before.
#include <gyre/net/socket_state.hpp>

#include "tests/net/connected_pair.hpp"

#include <array>
#include <cstddef>
#include <string_view>
#include <utility>

using namespace gyre_test;

namespace {

constexpr std::string_view words = "last words";
constexpr std::uint32_t buffer_size = 512;
constexpr std::size_t full_queue = std::size_t{gyre::io::receive_queue::max_buffers} * buffer_size;

/// Watches for the end of a stream that outlives the watcher.
template <class Stream>
class watched : gyre::end_watch {
 public:
  explicit watched(Stream& stream) : stream_(stream) {
    gyre::end_watch::ended = [](gyre::end_watch& w) noexcept { static_cast<watched&>(w).happened_.set(); };
    stream.socket().watch_end(this);
  }
  watched(const watched&) = delete;
  watched& operator=(const watched&) = delete;
  ~watched() { stream_.socket().watch_end(nullptr); }

  gyre::task<> told() { co_await gyre::timeout(5s, happened_.wait()); }

 private:
  Stream& stream_;
  gyre::event happened_;
};

constexpr auto receives_words = [](auto& stream) -> gyre::task<> {
  co_await expect_received(stream, std::string(words));
};
constexpr auto reads_some = [](auto& stream) -> gyre::task<> {
  std::array<std::byte, 100> buffer{};
  const std::size_t size = co_await stream.read_some(buffer);
  EXPECT_EQ(text_of(std::span(buffer).first(size)), words);
};
constexpr auto reads_exactly = [](auto& stream) -> gyre::task<> {
  std::array<std::byte, words.size()> buffer{};
  co_await stream.read_exactly(buffer);
  EXPECT_EQ(text_of(buffer), words);
};
constexpr auto reads_to_the_end = [](auto& stream) -> gyre::task<> {
  std::array<std::byte, 100> buffer{};
  while (co_await stream.read_some(buffer) > 0) {
  }
};

/// The peer writes and leaves in one turn, while a task reads the last words and nothing more.
template <class Stream, class Read>
gyre::task<> hear_last_words(Stream here, Stream there, Read read) {
  watched watch(here);
  auto reading = gyre::spawn(read(here));
  co_await gyre::yield();  // now the task waits
  co_await there.write_all(words);
  there = Stream();
  co_await reading;
  co_await watch.told();
}

template <class Read>
void hear_last_words_tcp(Read read) {
  run_test([read]() -> gyre::task<> {
    auto pair = co_await connect_pair();
    co_await hear_last_words(std::move(pair.server), std::move(pair.client), read);
  });
}

template <class Read>
void hear_last_words_unix(Read read) {
  run_test([read]() -> gyre::task<> {
    auto pair = gyre::unix_stream::pair();
    co_await hear_last_words(std::move(pair.first), std::move(pair.second), read);
  });
}

/// The queue of received data is full, so receiving stops. Then all of it is read, and the peer leaves.
template <class Read>
void empty_a_full_queue(Read read) {
  auto body = [read]() -> gyre::task<> {
    auto pair = co_await connect_pair();
    watched watch(pair.server);
    co_await pair.client.write_all(pattern(full_queue));
    co_await settle();
    co_await read(pair.server);
    co_await pair.client.close();
    co_await watch.told();
  };
  gyre::run_options options;
  options.loop.backend.buffer_size = buffer_size;
  EXPECT_NO_THROW(gyre::run(body, options));
}

}  // namespace

TEST(watched_end, is_told_when_it_comes_with_bytes_that_a_task_has_waited_to_receive) {
  hear_last_words_tcp(receives_words);
}
TEST(watched_end, is_told_when_it_comes_with_bytes_that_a_task_has_waited_to_read) { hear_last_words_tcp(reads_some); }
TEST(watched_end, is_told_when_it_comes_with_the_last_of_the_bytes_that_a_task_wanted) {
  hear_last_words_tcp(reads_exactly);
}
TEST(watched_end, is_told_beside_a_task_that_finds_it_too) { hear_last_words_tcp(reads_to_the_end); }

TEST(watched_end, on_a_unix_socket_is_told_when_it_comes_with_bytes_that_a_task_has_waited_to_receive) {
  hear_last_words_unix(receives_words);
}
TEST(watched_end, on_a_unix_socket_is_told_when_it_comes_with_bytes_that_a_task_has_waited_to_read) {
  hear_last_words_unix(reads_some);
}
TEST(watched_end, on_a_unix_socket_is_told_when_it_comes_with_the_last_of_the_bytes_that_a_task_wanted) {
  hear_last_words_unix(reads_exactly);
}

TEST(watched_end, is_told_behind_a_full_queue_that_was_received) {
  empty_a_full_queue([](gyre::tcp_stream& from) -> gyre::task<> {
    for (std::size_t size = 0; size < full_queue;) {
      const gyre::buffer_lease lease = co_await from.receive();
      EXPECT_FALSE(lease.empty());
      size += lease.bytes().size();
    }
  });
}

TEST(watched_end, is_told_behind_a_full_queue_that_was_read) {
  empty_a_full_queue([](gyre::tcp_stream& from) -> gyre::task<> {
    std::vector<std::byte> all(full_queue);
    co_await from.read_exactly(all);
    EXPECT_EQ(all, pattern(full_queue));
  });
}
