// tests/tls/https_files_test.cpp: files over TLS. On a kernel with the module "tls", it encrypts the large ones.
#include <gyre/net/kernel_encryption.hpp>

#include "tests/fs/scratch.hpp"
#include "tests/tls/https_server.hpp"

#include <fstream>
#include <string>

using namespace gyre_test;
using http::response;

namespace {

constexpr std::size_t large = 3'000'123;

std::string numbers(std::size_t size) {
  std::string text;
  text.reserve(size + 20);
  for (int i = 0; text.size() < size; ++i) text += std::to_string(i) + ' ';
  text.resize(size);
  return text;
}

/// The number of sockets whose sending this kernel has begun to encrypt: /proc/net/tls_stat.
long moved_to_kernel() {
  std::ifstream table("/proc/net/tls_stat");
  std::string name;
  for (long value = 0; table >> name >> value;)
    if (name == "TlsTxSw") return value;
  return 0;
}

class https_files : public testing::Test {
 protected:
  https_files() { folder_.put("large", contents_); }

  /// GET /large sends the file, and GET /FIRST-SIZE a part of it.
  http::server_options options(tls::server_options settings = server_with_certificate()) {
    auto routes = [path = folder_.path("large")](http::request& r) -> gyre::task<response> {
      auto file = co_await gyre::fs::file::open(path);
      const std::string part(r.path().substr(1));
      const std::size_t dash = part.find('-');
      if (part == "small") co_return response::text("small");
      const std::uint64_t first = dash == std::string::npos ? 0 : std::stoul(part);
      const std::uint64_t size = dash == std::string::npos ? large : std::stoul(part.substr(dash + 1));
      co_return response::file(std::move(file), first, size, "text/plain");
    };
    return over_tls(std::move(routes), std::move(settings));
  }

  scratch folder_;
  std::string contents_ = numbers(large);
};

}  // namespace

TEST_F(https_files, files_arrive_whole_between_other_answers_of_one_connection) {
  run_on_sockets(options(), [this](socket_server& server) -> gyre::task<> {
    auto client = co_await connect_over_tls(server);
    for (int i = 0; i < 3; ++i) {
      co_await client.send("GET /small HTTP/1.1\r\nHost: a\r\n\r\n");
      EXPECT_EQ((co_await client.answer()).body, "small");
      co_await client.send("GET /large HTTP/1.1\r\nHost: a\r\n\r\n");
      EXPECT_TRUE((co_await client.answer()).body == contents_);
      co_await client.send("GET /1000-2000000 HTTP/1.1\r\nHost: a\r\n\r\nGET /small HTTP/1.1\r\nHost: a\r\n\r\n");
      EXPECT_TRUE((co_await client.answer()).body == contents_.substr(1000, 2'000'000));
      EXPECT_EQ((co_await client.answer()).body, "small");
    }
    EXPECT_EQ(server.server().connections(), 1U);
  });
}

TEST_F(https_files, a_kernel_that_can_encrypts_large_files) {
  (void)gyre::kernel_encryption();  // its trial counts too
  const long before = moved_to_kernel();
  run_on_sockets(options(), [this, before](socket_server& server) -> gyre::task<> {
    auto client = co_await connect_over_tls(server);
    co_await client.send("GET /0-500000 HTTP/1.1\r\nHost: a\r\n\r\n");
    EXPECT_TRUE((co_await client.answer()).body == contents_.substr(0, 500'000));
    EXPECT_EQ(moved_to_kernel(), before) << "a small one is not worth it";
    co_await client.send("GET /large HTTP/1.1\r\nHost: a\r\n\r\n");
    EXPECT_TRUE((co_await client.answer()).body == contents_);
    EXPECT_EQ(moved_to_kernel(), gyre::kernel_encryption().used ? before + 1 : before);
  });
}

TEST_F(https_files, files_end_a_connection_in_order) {
  for (const bool reads_late : {false, true}) {
    run_on_sockets(options(), [&, this](socket_server& server) -> gyre::task<> {
      auto below = co_await connect_to(server);
      const tls::client_config config(client_that_trusts());
      auto client = co_await tls::connect(std::move(below), "server.test", config);
      co_await client.write_all("GET /large HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
      if (reads_late) co_await gyre::sleep(50ms);
      std::string all;
      std::string piece(100'000, '\0');
      while (const std::size_t count = co_await client.read_some(std::span<char>(piece)))  // 0 after close_notify only
        all.append(piece, 0, count);
      EXPECT_TRUE(all.ends_with(contents_));
    });
  }
}

// The last record meets a full socket in some of them.
TEST_F(https_files, files_end_in_order_for_clients_that_read_slowly) {
  run_on_sockets(options(), [this](socket_server& server) -> gyre::task<> {
    auto get = [&](std::size_t size) -> gyre::task<> {
      auto below = co_await connect_to(server);
      below.set_receive_buffer_size(60'000);
      const tls::client_config config(client_that_trusts());
      auto client = co_await tls::connect(std::move(below), "server.test", config);
      co_await client.write_all("GET /0-" + std::to_string(size) + " HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
      std::string all;
      std::string piece(20'000, '\0');
      while (const std::size_t count = co_await client.read_some(std::span<char>(piece))) {
        all.append(piece, 0, count);
        co_await gyre::yield_turn();
      }
      EXPECT_TRUE(all.ends_with(contents_.substr(size - 1000, 1000))) << size;
      EXPECT_EQ(all.size() - all.find("\r\n\r\n") - 4, size);
    };
    auto all = gyre::task_group::scope([&](gyre::task_group& group) -> gyre::task<> {
      for (std::size_t i = 0; i < 16; ++i) group.spawn(get((std::size_t{1} << 20U) + i * 7'777));
      co_return;
    });
    co_await std::move(all);
  });
}

TEST_F(https_files, files_arrive_whole_with_each_version) {
  for (const tls::version only : {tls::version::tls_1_2, tls::version::tls_1_3}) {
    run_on_sockets(options(), [only, this](socket_server& server) -> gyre::task<> {
      tls::client_options settings = client_that_trusts();
      settings.min_version = only;
      const auto answer = co_await get_over_tls(server, "/large", settings);
      EXPECT_TRUE(answer.body == contents_);
    });
  }
}

TEST_F(https_files, files_arrive_whole_for_many_clients_at_once) {
  run_on_sockets(options(), [this](socket_server& server) -> gyre::task<> {
    auto get = [&]() -> gyre::task<> {
      const auto answer = co_await get_over_tls(server, "/large");
      EXPECT_TRUE(answer.body == contents_);
    };
    auto all = gyre::task_group::scope([&](gyre::task_group& group) -> gyre::task<> {
      for (int i = 0; i < 20; ++i) group.spawn(get());
      co_return;
    });
    co_await std::move(all);
  });
}

TEST_F(https_files, a_file_that_a_client_stops_reading_ends_at_the_time_limit) {
  http::server_options limited = options();
  limited.timeouts.write = 200ms;
  run_on_sockets(std::move(limited), [](socket_server& server) -> gyre::task<> {
    auto client = co_await connect_over_tls(server);
    co_await client.send("GET /large HTTP/1.1\r\nHost: a\r\n\r\nGET /large HTTP/1.1\r\nHost: a\r\n\r\n");
    while (server.server().connections() > 0) co_await gyre::sleep(5ms);
  });
}
