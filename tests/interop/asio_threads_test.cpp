// tests/interop/asio_threads_test.cpp: an io_context that runs in its own thread.
#include <gyre/interop/asio.hpp>
#include <gyre/testing/cancel_at_every_await.hpp>

#include "tests/interop/asio_support.hpp"
#include "tests/support/cancels.hpp"
#include "tests/support/co_assert.hpp"
#include "tests/support/error_of.hpp"

#include <array>
#include <atomic>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>

using namespace gyre_test;

namespace {

/// An echo server as in Asio's tutorials.
class callback_echo : public std::enable_shared_from_this<callback_echo> {
 public:
  explicit callback_echo(tcp::socket peer) : peer_(std::move(peer)) {}
  void read() {
    peer_.async_read_some(asio::buffer(buffer_), [self = shared_from_this()](std::error_code error, std::size_t n) {
      if (!error) self->write(n);
    });
  }

 private:
  void write(std::size_t n) {
    asio::async_write(peer_, asio::buffer(buffer_.data(), n),
                      [self = shared_from_this()](std::error_code error, std::size_t) {
                        if (!error) self->read();
                      });
  }
  tcp::socket peer_;
  std::array<char, 1024> buffer_{};
};

/// Accepts one peer after another until it is closed.
class callback_server {
 public:
  explicit callback_server(asio::io_context& context) : acceptor_(context, any_port()) { accept(); }
  [[nodiscard]] std::string address() const { return address_of(acceptor_); }

 private:
  void accept() {
    acceptor_.async_accept([this](std::error_code error, tcp::socket peer) {
      if (error) return;
      std::make_shared<callback_echo>(std::move(peer))->read();
      accept();
    });
  }
  tcp::acceptor acceptor_;
};

gyre::task<> asio_echo(tcp::socket peer) {
  std::array<char, 1024> buffer;
  for (;;) {
    const auto n = co_await gyre::as_expected(peer.async_read_some(asio::buffer(buffer), gyre::use_gyre));
    if (!n) co_return;
    co_await asio::async_write(peer, asio::buffer(buffer.data(), *n), gyre::use_gyre);
  }
}

struct initiate_and_say_where {
  using executor_type = asio::io_context::executor_type;
  executor_type executor;
  std::thread::id* where;
  [[nodiscard]] executor_type get_executor() const noexcept { return executor; }
  void operator()(auto handler) const {
    *where = std::this_thread::get_id();
    std::move(handler)(std::error_code());
  }
};

}  // namespace

TEST(asio_threads, a_result_comes_back_to_the_loop) {
  gyre::run([]() -> gyre::task<> {
    gyre::asio_thread asio_side;
    const auto here = std::this_thread::get_id();
    asio::steady_timer timer(asio_side.context());
    for (int i = 0; i < 100; ++i) {
      timer.expires_after(std::chrono::microseconds(i));
      co_await timer.async_wait(gyre::use_gyre);
      CO_ASSERT_TRUE(std::this_thread::get_id() == here);
    }
  });
}

TEST(asio_threads, everything_is_begun_on_the_thread_of_the_object) {
  gyre::run([]() -> gyre::task<> {
    gyre::asio_thread asio_side;
    std::thread::id begun_on;
    auto begin = [&](auto handler) {
      begun_on = std::this_thread::get_id();
      handler(std::error_code());
    };
    const auto token = gyre::use_gyre_on(asio_side.get_executor());
    co_await asio::async_initiate<decltype(token), void(std::error_code)>(begin, token);
    EXPECT_NE(begun_on, std::this_thread::get_id());
  });
}

TEST(asio_threads, a_plain_function_runs_on_an_executor_of_asio) {
  asio::thread_pool pool(2);
  asio::io_context stopped;
  gyre::run([&]() -> gyre::task<> {
    gyre::asio_thread asio_side;
    auto where = [] { return std::this_thread::get_id(); };
    auto on_pool = [&](const gyre::handed_work& work) { asio::post(pool, work); };
    EXPECT_NE(co_await gyre::via(on_pool, where), std::this_thread::get_id());
    const asio::any_io_executor executor = asio_side.get_executor();
    EXPECT_NE(co_await gyre::via(executor, where), std::this_thread::get_id());
    auto never = gyre::spawn([&]() -> gyre::task<> {
      auto on_stopped = [&](const gyre::handed_work& work) { asio::post(stopped, work); };
      co_await gyre::via(on_stopped, where);
    });
    co_await gyre::yield();
    never.cancel();
    co_await never.wait();
  });
}

TEST(asio_threads, a_gyre_client_talks_to_a_server_of_callbacks) {
  gyre::run([]() -> gyre::task<> {
    gyre::asio_thread asio_side;
    std::unique_ptr<callback_server> server;
    const auto token = gyre::use_gyre_on(asio_side.get_executor());
    server = std::make_unique<callback_server>(asio_side.context());
    const std::string address = server->address();
    for (int i = 0; i < 20; ++i) {
      auto stream = co_await gyre::tcp_stream::connect(address);
      std::string question = "question " + std::to_string(i);
      co_await stream.write_all(question);
      std::string answer(question.size(), '-');
      co_await stream.read_exactly(std::span(answer));
      EXPECT_EQ(answer, question);
    }
    auto close = [&](auto handler) {
      server.reset();
      handler();
    };
    co_await asio::async_initiate<decltype(token), void()>(close, token);
  });
}

TEST(asio_threads, an_asio_server_in_tasks_serves_gyre_clients_at_once) {
  gyre::run([]() -> gyre::task<> {
    gyre::asio_thread asio_side;
    tcp::acceptor acceptor(asio_side.context(), any_port());
    const std::string address = address_of(acceptor);
    int answered = 0;
    auto client = [&](int number) -> gyre::task<> {
      auto stream = co_await gyre::tcp_stream::connect(address);
      for (int i = 0; i < 20; ++i) {
        std::string question = std::to_string(number * 1000 + i) + "........";
        question.resize(8);
        co_await stream.write_all(question);
        std::string answer(question.size(), '-');
        co_await stream.read_exactly(std::span(answer));
        if (answer == question) ++answered;
      }
    };
    auto body = [&](gyre::task_group& group) -> gyre::task<> {
      for (int i = 0; i < 10; ++i) group.spawn(client(i));
      for (int i = 0; i < 10; ++i) {
        tcp::socket peer = co_await acceptor.async_accept(gyre::use_gyre);
        group.spawn(asio_echo(std::move(peer)));
      }
    };
    co_await gyre::task_group::scope(body);
    EXPECT_EQ(answered, 200);
  });
}

TEST(asio_threads, one_task_reads_while_another_writes_the_same_socket) {
  gyre::run([]() -> gyre::task<> {
    gyre::asio_thread asio_side;
    tcp::acceptor acceptor(asio_side.context(), any_port());
    tcp::socket client(asio_side.context());
    co_await client.async_connect(acceptor.local_endpoint(), gyre::use_gyre);
    tcp::socket server = co_await acceptor.async_accept(gyre::use_gyre);
    gyre::task_handle<void> echo = gyre::spawn(asio_echo(std::move(server)));
    const std::string sent(300'000, 'x');
    std::string received(sent.size(), '-');
    auto write = [&]() -> gyre::task<> {
      for (std::size_t at = 0; at < sent.size(); at += 10'000)
        co_await asio::async_write(client, asio::buffer(sent.data() + at, 10'000), gyre::use_gyre);
    };
    auto read = [&]() -> gyre::task<> { co_await asio::async_read(client, asio::buffer(received), gyre::use_gyre); };
    co_await gyre::gather(write(), read());
    EXPECT_EQ(received, sent);
    client.close();
    co_await echo;
  });
}

TEST(asio_threads, an_operation_behind_an_adapter_is_begun_on_the_thread_of_the_object) {
  gyre::run([]() -> gyre::task<> {
    gyre::asio_thread asio_side;
    std::thread::id begun_on;
    auto token = asio::bind_executor(asio_side.get_executor(), gyre::use_gyre);
    initiate_and_say_where begin{asio_side.get_executor(), &begun_on};
    co_await asio::async_initiate<decltype(token), void(std::error_code)>(std::move(begin), token);
    EXPECT_NE(begun_on, std::this_thread::get_id());
  });
}

TEST(asio_threads, loops_of_two_threads_share_one_io_context) {
  gyre::asio_thread asio_side;
  std::atomic<int> waited = 0;
  auto waits = [&] {
    gyre::run([&]() -> gyre::task<> {
      for (int i = 0; i < 100; ++i) {
        asio::steady_timer timer(asio_side.context(), std::chrono::microseconds(i));
        co_await timer.async_wait(gyre::use_gyre);
        ++waited;
      }
    });
  };
  std::thread first(waits);
  std::thread second(waits);
  first.join();
  second.join();
  EXPECT_EQ(waited, 200);
}

TEST(asio_threads, two_threads_may_run_one_io_context_when_objects_have_strands) {
  asio::thread_pool pool(2);
  gyre::run([&]() -> gyre::task<> {
    tcp::acceptor acceptor(asio::make_strand(pool), any_port());
    int cancels = 0;
    int echoes = 0;
    for (int i = 0; i < 100; ++i) {
      tcp::socket client(asio::make_strand(pool));
      tcp::socket server(asio::make_strand(pool));
      auto connect = client.async_connect(acceptor.local_endpoint(), gyre::use_gyre);
      auto accept = acceptor.async_accept(server, gyre::use_gyre);
      co_await gyre::gather(std::move(connect), std::move(accept));
      std::string received(1000, '-');
      auto reader = gyre::spawn([&]() -> gyre::task<> {
        co_await asio::async_read(server, asio::buffer(received), gyre::use_gyre);
        ++echoes;
      });
      std::string sent(500, 'x');
      co_await asio::async_write(client, asio::buffer(sent), gyre::use_gyre);
      if (i % 2 == 0) reader.cancel();
      co_await asio::async_write(client, asio::buffer(sent), gyre::use_gyre);
      co_await reader.wait();
      if (reader.state().was_cancelled()) ++cancels;
    }
    EXPECT_EQ(echoes + cancels, 100);
    EXPECT_GE(echoes, 50);
  });
  pool.join();
}

TEST(asio_threads, virtual_time_waits_for_asio) {
  run_virtual([]() -> gyre::task<> {
    gyre::asio_thread asio_side;
    asio::steady_timer timer(asio_side.context(), 1ms);
    const auto began = gyre::now();
    co_await gyre::timeout(1h, timer.async_wait(gyre::use_gyre));  // would expire at once if time jumped
    EXPECT_LT(since(began), 1h);
  });
}

TEST(asio_threads, an_exception_of_a_handler_is_reported_and_the_thread_goes_on) {
  testing::internal::CaptureStderr();
  gyre::run([]() -> gyre::task<> {
    gyre::asio_thread asio_side;
    asio::post(asio_side.context(), [] { throw std::runtime_error("from a handler"); });
    asio::steady_timer timer(asio_side.context(), 1us);
    co_await timer.async_wait(gyre::use_gyre);
  });
  EXPECT_NE(testing::internal::GetCapturedStderr().find("from a handler"), std::string::npos);
}
