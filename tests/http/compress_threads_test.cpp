// tests/http/compress_threads_test.cpp: threads compress large bodies, and stop when nobody wants the result.
#include <gyre/http/handler_timeout.hpp>

#include "decoding.hpp"
#include "tests/http/compressible_text.hpp"
#include "tests/http/socket_server.hpp"
#include "tests/support/mebibyte.hpp"

#include <sys/mman.h>

#include <atomic>
#include <latch>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

using namespace gyre_test;
using http::response;

namespace {

const std::string& long_text() {
  static const std::string all = make_text(16 * mebibyte);
  return all;
}

const std::string& noise() {
  static const std::string all = make_noise(2 * mebibyte);
  return all;
}

http::router make_routes() {
  http::router routes;
  routes.use(http::compress());
  routes.get("/book", [](http::request&) { return response::borrowed(long_text(), "text/plain"); });
  routes.get("/noise", [](http::request&) { return response::borrowed(noise(), "text/plain"); });
  routes.get("/streamed", [](http::request&) {
    auto write = [](http::body_writer& out) -> gyre::task<> { co_await out.write(long_text()); };
    return response::stream(write, "text/plain");
  });
  routes.get("/hello", [](http::request&) { return response::text("hello"); });
  return routes;
}

/// Keeps threads of to_thread busy until release() is called.
class busy_threads {
 public:
  explicit busy_threads(std::size_t free) : count_(gyre::io::blocking_pool::for_calls().max_threads() - free) {}
  gyre::task<> occupy() {
    const auto wait = [this]() -> gyre::task<> {
      auto work = [this] {
        ++started_;
        release_.wait();
      };
      co_await gyre::to_thread(work);
    };
    for (std::size_t i = 0; i < count_; ++i) waiting_.push_back(gyre::spawn(wait));
    while (started_ < count_) co_await gyre::yield_turn();
  }
  gyre::task<> release() {
    release_.count_down();
    for (auto& each : waiting_) co_await each;
    waiting_.clear();
  }

 private:
  std::size_t count_;
  std::atomic<std::size_t> started_ = 0;
  std::latch release_{1};
  std::vector<gyre::task_handle<void>> waiting_;
};

std::string request_for(std::string_view target, std::string_view coding) {
  return "GET " + std::string(target) + " HTTP/1.1\r\nHost: a\r\nAccept-Encoding: " + std::string(coding) + "\r\n\r\n";
}

/// A text so large that its compression takes minutes. It needs hardly any memory.
class endless_text {
 public:
  endless_text() : start_(::mmap(nullptr, size, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)) {}
  endless_text(const endless_text&) = delete;
  endless_text& operator=(const endless_text&) = delete;
  ~endless_text() {
    if (exists()) ::munmap(start_, size);
  }
  [[nodiscard]] bool exists() const noexcept { return start_ != MAP_FAILED; }
  [[nodiscard]] std::string_view text() const noexcept { return {static_cast<const char*>(start_), size}; }

 private:
  static constexpr std::size_t size = std::size_t{256} << 30U;
  void* start_;
};

/// A server of the endless text. All of its tests would pass their time limit if the compression went on.
class compress_threads_endless : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!text_.exists()) GTEST_SKIP() << "no address space for a large mapping";
  }
  http::router routes() {
    http::router all;
    all.use(http::compress());
    all.get("/value", [this](http::request&) {
      began.set();
      return response::borrowed(text_.text(), "text/plain");
    });
    all.get("/streamed", [this](http::request&) {
      auto write = [this](http::body_writer& out) -> gyre::task<> {
        began.set();
        co_await out.write(text_.text());
      };
      return response::stream(write, "text/plain");
    });
    return all;
  }
  /// Returns when a thread compresses, or is about to.
  gyre::task<> until_it_is_compressed(int turns = 100) {
    co_await began.wait();
    began.clear();
    for (int i = 0; i < turns; ++i) co_await gyre::yield_turn();
  }

  endless_text text_;
  gyre::event began;
};

gyre::task<> until_answered(const exchange_log& heard) {
  while (heard.complete.empty()) co_await gyre::yield_turn();
}

}  // namespace

TEST(compress_threads, a_large_body_arrives_whole_in_every_coding) {
  run_on_sockets(options_for(make_routes()), [](socket_server& here) -> gyre::task<> {
    auto client = co_await here.connect();
    for (const std::string_view coding : http::available_codings()) {
      for (const char* target : {"/book", "/streamed"}) {
        const http_answer answer = co_await client.ask(request_for(target, coding));
        EXPECT_EQ(answer.field("Content-Encoding"), coding);
        EXPECT_LT(answer.body.size(), long_text().size() / 3) << coding << target;
        const decoded plain = decode(coding, answer.body);
        EXPECT_TRUE(plain.ended && !plain.failed) << coding << target;
        EXPECT_TRUE(plain.text == long_text()) << coding << target;
      }
    }
  });
}

TEST(compress_threads, a_large_body_that_does_not_become_smaller_stays_as_it_is) {
  run_on_sockets(options_for(make_routes()), [](socket_server& here) -> gyre::task<> {
    auto client = co_await here.connect();
    for (const std::string_view coding : http::available_codings()) {
      const http_answer answer = co_await client.ask(request_for("/noise", coding));
      EXPECT_EQ(answer.field("Content-Encoding"), "") << coding;
      EXPECT_TRUE(answer.body == noise()) << coding;
    }
  });
}

TEST(compress_threads, others_are_answered_while_a_large_body_is_compressed) {
  for (const char* target : {"/book", "/streamed"}) {
    run_on_sockets(options_for(make_routes()), [target](socket_server& here) -> gyre::task<> {
      const std::string coding(http::available_codings().front());
      busy_threads all(0);
      co_await all.occupy();
      auto client = co_await here.connect();
      co_await client.send(request_for(target, coding));
      for (int i = 0; i < 3; ++i) {
        const http_answer answer = co_await here.get("/hello");
        EXPECT_EQ(answer.body, "hello");
      }
      EXPECT_EQ(client.received().find("\r\n0\r\n"), std::string::npos);
      co_await all.release();
      const http_answer answer = co_await client.answer();
      EXPECT_TRUE(decode(coding, answer.body).text == long_text());
    });
  }
}

TEST_F(compress_threads_endless, a_client_that_leaves_ends_the_compression) {
  exchange_log heard;
  http::server_options options = options_for(routes());
  options.observer = &heard;
  run_on_sockets(std::move(options), [&](socket_server& here) -> gyre::task<> {
    for (const std::string_view coding : http::available_codings()) {
      for (const char* target : {"/value", "/streamed"}) {
        for (const int turns : {0, 1, 10, 100}) {
          heard = {};
          auto client = co_await here.connect();
          co_await client.send(request_for(target, coding));
          co_await until_it_is_compressed(turns);
          reset(client);
          co_await until_answered(heard);
          EXPECT_FALSE(heard.complete[0]) << coding << target << turns;
        }
      }
    }
  });
}

TEST_F(compress_threads_endless, a_client_that_leaves_withdraws_a_compression_that_no_thread_has_begun) {
  exchange_log heard;
  http::server_options options = options_for(routes());
  options.observer = &heard;
  run_on_sockets(std::move(options), [&](socket_server& here) -> gyre::task<> {
    busy_threads all(0);
    co_await all.occupy();
    for (const char* target : {"/value", "/streamed"}) {
      heard = {};
      auto client = co_await here.connect();
      co_await client.send(request_for(target, http::available_codings().front()));
      co_await until_it_is_compressed();
      reset(client);
      co_await until_answered(heard);
      EXPECT_FALSE(heard.complete[0]) << target;
    }
    co_await all.release();
  });
}

TEST_F(compress_threads_endless, a_time_limit_ends_the_compression) {
  http::router limited;
  limited.use(http::handler_timeout({.limit = 1ms}));
  limited.use(http::compress());
  limited.get("/", [&](http::request&) { return response::borrowed(text_.text(), "text/plain"); });
  run_on_sockets(options_for(std::move(limited)), [&](socket_server& here) -> gyre::task<> {
    auto client = co_await here.connect();
    for (const std::string_view coding : http::available_codings()) {
      const http_answer answer = co_await client.ask(request_for("/", coding));
      EXPECT_EQ(answer.status, 503) << coding;
    }
  });
}

TEST_F(compress_threads_endless, a_server_that_is_cancelled_ends_the_compression) {
  for (const char* target : {"/value", "/streamed"}) {
    http::server_options options = options_for(routes());
    options.timeouts.drain = 0s;
    run_on_sockets(std::move(options), [&](socket_server& here) -> gyre::task<> {
      auto client = co_await here.connect();
      co_await client.send(request_for(target, http::available_codings().back()));
      co_await until_it_is_compressed();
      here.tell_to_stop();
      co_await here.stopped();
    });
  }
}

// The task that serves is left behind: the loop cancels it, and waits for the thread.
TEST_F(compress_threads_endless, a_loop_may_end_while_a_thread_compresses) {
  for (const char* target : {"/value", "/streamed"}) {
    auto serve = [this](std::string& where) -> gyre::task<> {
      http::server_options options = options_for(routes());
      options.timeouts.drain = 0s;
      http::server server(encrypted(std::move(options)));
      where = server.where();
      co_await server.run();
    };
    gyre::run([&]() -> gyre::task<> {
      std::string where;
      gyre::spawn(serve(where)).detach();
      while (where.empty()) co_await gyre::yield_turn();
      auto stream = co_await gyre::tcp_stream::connect(where);
      tcp_client client(std::move(stream));
      co_await client.send(request_for(target, http::available_codings().back()));
      co_await until_it_is_compressed();
    });
  }
}
