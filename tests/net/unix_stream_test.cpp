// tests/net/unix_stream_test.cpp: Unix sockets as streams, with descriptors and credentials.
#include <gyre/net/unix_stream.hpp>

#include <gyre/net/unix_listener.hpp>
#include <gyre/testing/cancel_at_every_await.hpp>

#include "tests/net/connected_pair.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cstdlib>

using namespace gyre_test;

namespace {

/// A directory that is removed after the test.
class directory {
 public:
  directory() { EXPECT_NE(::mkdtemp(name_), nullptr); }
  directory(const directory&) = delete;
  directory& operator=(const directory&) = delete;
  ~directory() {
    ::unlink(socket().c_str());
    ::rmdir(name_);
  }
  [[nodiscard]] std::string socket() const { return std::string(name_) + "/socket"; }

 private:
  char name_[32] = "/tmp/gyre-unix-XXXXXX";
};

struct ends {
  gyre::unix_stream client;
  gyre::unix_stream server;
};

gyre::task<ends> connect_over(gyre::unix_listener& listener) {
  auto client = co_await gyre::unix_stream::connect(listener.local_address());
  auto server = co_await listener.accept();
  co_return ends{std::move(client), std::move(server)};
}

gyre::task<std::string> read_text(gyre::unix_stream& from) {
  std::array<char, 256> buffer{};
  const std::size_t n = co_await from.read_some(buffer);
  co_return std::string(buffer.data(), n);
}

bool exists(const std::string& path) { return ::access(path.c_str(), F_OK) == 0; }

/// Leaves the file of a socket behind, as a killed server does.
void leave_behind(const gyre::unix_address& where) {
  const int killed = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  EXPECT_EQ(::bind(killed, static_cast<const sockaddr*>(where.data()), where.size()), 0);
  ::close(killed);
}

}  // namespace

TEST(unix_stream, a_client_and_a_server_talk_over_a_path) {
  run_test([]() -> gyre::task<> {
    const directory dir;
    auto listener = gyre::unix_listener::bind(gyre::unix_address(dir.socket()));
    ends both = co_await connect_over(listener);
    co_await both.client.write_all("hello");
    const std::string heard = co_await read_text(both.server);
    EXPECT_EQ(heard, "hello");
    EXPECT_EQ(both.client.peer_address().name(), dir.socket());
    EXPECT_TRUE(both.server.peer_address().is_unnamed());
    EXPECT_EQ(both.server.local_address().string(), dir.socket());
  });
}

TEST(unix_stream, an_abstract_name_needs_no_file) {
  run_test([]() -> gyre::task<> {
    const std::string name = "@gyre-test-" + std::to_string(::getpid());
    auto listener = gyre::unix_listener::bind(gyre::unix_address(name));
    EXPECT_EQ(listener.local_address().string(), name);
    ends both = co_await connect_over(listener);
    co_await both.server.write_all("hello");
    const std::string heard = co_await read_text(both.client);
    EXPECT_EQ(heard, "hello");
  });
}

TEST(unix_stream, a_pair_is_connected) {
  run_with_unix_pair([](gyre::unix_stream_pair& pair) -> gyre::task<> {
    co_await pair.first.write_all("x");
    co_await pair.first.close();
    const std::string heard = co_await read_text(pair.second);
    EXPECT_EQ(heard, "x");
    const std::string rest = co_await read_text(pair.second);
    EXPECT_EQ(rest, "");
  });
}

TEST(unix_stream, the_credentials_are_those_of_the_peer) {
  run_test([]() -> gyre::task<> {
    const auto pair = gyre::unix_stream::pair();
    const gyre::peer_credentials found = pair.first.credentials();
    EXPECT_EQ(found.process, ::getpid());
    EXPECT_EQ(found.user, ::getuid());
    EXPECT_EQ(found.group, ::getgid());
    co_return;
  });
}

TEST(unix_stream, a_connect_to_nobody_names_the_path) {
  run_test([]() -> gyre::task<> {
    const std::string text = co_await error_of(gyre::unix_stream::connect(gyre::unix_address("/tmp/nobody/here")));
    EXPECT_EQ(text, "connect /tmp/nobody/here: No such file or directory");
  });
}

TEST(unix_stream, a_reset_by_the_peer_is_an_error_that_names_the_socket) {
  run_test([]() -> gyre::task<> {
    const directory dir;
    auto listener = gyre::unix_listener::bind(gyre::unix_address(dir.socket()));
    ends both = co_await connect_over(listener);
    co_await both.client.close();
    std::string text;
    for (int i = 0; i < 2 && text.empty(); ++i) text = co_await error_of(both.server.write_all("into the void"));
    EXPECT_EQ(text, "write_all " + dir.socket() + ": Broken pipe");
  });
}

TEST(unix_stream, from_fd_refuses_what_is_not_connected) {
  run_test([]() -> gyre::task<> {
    const int fd = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    EXPECT_EQ(error_of_call([&] { (void)gyre::unix_stream::from_fd(fd); }),
              "from_fd " + std::to_string(fd) + ": Socket operation on non-socket");
    EXPECT_EQ(::fcntl(fd, F_GETFD), -1) << "it was not closed";
    co_return;
  });
}

TEST(unix_listener, its_file_is_removed_with_it) {
  run_test([]() -> gyre::task<> {
    const directory dir;
    {
      const auto listener = gyre::unix_listener::bind(gyre::unix_address(dir.socket()));
      EXPECT_TRUE(exists(dir.socket()));
    }
    EXPECT_FALSE(exists(dir.socket()));
    co_return;
  });
}

TEST(unix_listener, the_file_of_a_later_server_is_left_alone) {
  run_test([]() -> gyre::task<> {
    const directory dir;
    {
      const auto first = gyre::unix_listener::bind(gyre::unix_address(dir.socket()));
      ::unlink(dir.socket().c_str());
      EXPECT_EQ(::close(::open(dir.socket().c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0600)), 0);
    }
    EXPECT_TRUE(exists(dir.socket()));
    co_return;
  });
}

TEST(unix_listener, a_file_that_a_killed_server_left_behind_is_replaced) {
  run_test([]() -> gyre::task<> {
    const directory dir;
    const gyre::unix_address where(dir.socket());
    leave_behind(where);
    auto listener = gyre::unix_listener::bind(where);
    const ends both = co_await connect_over(listener);
    EXPECT_TRUE(both.server.is_open());
  });
}

TEST(unix_listener, a_file_that_is_no_socket_is_left_alone) {
  run_test([]() -> gyre::task<> {
    const directory dir;
    EXPECT_EQ(::close(::open(dir.socket().c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0600)), 0);
    EXPECT_EQ(error_of_call([&] { (void)gyre::unix_listener::bind(gyre::unix_address(dir.socket())); }),
              "listen " + dir.socket() + ": Address already in use");
    struct stat found{};
    EXPECT_EQ(::stat(dir.socket().c_str(), &found), 0);
    EXPECT_TRUE(S_ISREG(found.st_mode));
    co_return;
  });
}

namespace {

std::string refusal_of_bind(const std::string& where, const gyre::unix_listen_options& options = {}) {
  try {
    (void)gyre::unix_listener::bind(gyre::unix_address(where), options);
  } catch (const gyre::io_error& error) {
    return error.what();
  }
  return "bound";
}

}  // namespace

TEST(unix_listener, the_socket_of_datagrams_is_left_alone) {
  run_test([]() -> gyre::task<> {
    const directory dir;
    auto other = gyre::unix_datagram::bind(gyre::unix_address(dir.socket()));
    EXPECT_EQ(refusal_of_bind(dir.socket()), "listen " + dir.socket() + ": Address already in use");
    EXPECT_TRUE(exists(dir.socket()));
    co_return;
  });
}

TEST(unix_listener, a_file_that_a_killed_server_left_behind_stays_when_that_is_asked_for) {
  run_test([]() -> gyre::task<> {
    const directory dir;
    const gyre::unix_address where(dir.socket());
    leave_behind(where);
    EXPECT_EQ(refusal_of_bind(dir.socket(), {.replace_stale = false}),
              "listen " + dir.socket() + ": Address already in use");
    EXPECT_TRUE(exists(dir.socket()));
    co_return;
  });
}

TEST(unix_listener, a_path_that_does_not_exist_is_named) {
  run_test([]() -> gyre::task<> {
    EXPECT_EQ(refusal_of_bind("/nonexistent/gyre.sock"), "listen /nonexistent/gyre.sock: No such file or directory");
    co_return;
  });
}

TEST(unix_listener, an_abstract_name_where_somebody_listens_is_in_use) {
  run_test([]() -> gyre::task<> {
    const std::string name = "@gyre-in-use-" + std::to_string(::getpid());
    const auto first = gyre::unix_listener::bind(gyre::unix_address(name));
    EXPECT_EQ(refusal_of_bind(name), "listen " + name + ": Address already in use");
    co_return;
  });
}

TEST(unix_listener, a_path_where_somebody_listens_is_in_use) {
  run_test([]() -> gyre::task<> {
    const directory dir;
    const auto first = gyre::unix_listener::bind(gyre::unix_address(dir.socket()));
    EXPECT_EQ(error_of_call([&] { (void)gyre::unix_listener::bind(gyre::unix_address(dir.socket())); }),
              "listen " + dir.socket() + ": Address already in use");
    EXPECT_TRUE(exists(dir.socket()));
    co_return;
  });
}

TEST(unix_listener, the_permissions_are_those_asked_for) {
  run_test([]() -> gyre::task<> {
    const directory dir;
    const auto listener = gyre::unix_listener::bind(gyre::unix_address(dir.socket()), {.permissions = 0600});
    struct stat found{};
    EXPECT_EQ(::stat(dir.socket().c_str(), &found), 0);
    EXPECT_EQ(found.st_mode & 0777U, 0600U);
    co_return;
  });
}

TEST(unix_listener, serve_gives_each_connection_a_task_and_drains) {
  run_test([]() -> gyre::task<> {
    const directory dir;
    auto listener = gyre::unix_listener::bind(gyre::unix_address(dir.socket()));
    const auto echo = [](gyre::unix_stream peer) -> gyre::task<> {
      std::array<std::byte, 64> buffer{};
      while (const std::size_t n = co_await peer.read_some(buffer))
        co_await peer.write_all(std::span<const std::byte>(buffer).first(n));
    };
    auto server = gyre::spawn(listener.serve(echo));
    auto client = co_await gyre::unix_stream::connect(listener.local_address());
    co_await client.write_all("hello");
    const std::string heard = co_await read_text(client);
    EXPECT_EQ(heard, "hello");
    server.cancel();
    const std::string end = co_await read_text(client);
    EXPECT_EQ(end, "");
    co_await server.wait();
    EXPECT_TRUE(server.state().was_cancelled());
  });
}
