// tests/net/unix_listener_move_test.cpp: the owner of the socket file of a listener that was moved.
#include <gyre/net/unix_listener.hpp>

#include "tests/fs/scratch.hpp"
#include "tests/net/connected_pair.hpp"

#include <filesystem>
#include <string>
#include <utility>

using namespace gyre_test;
using gyre::unix_address;
using gyre::unix_listener;
using gyre::unix_stream;

TEST(unix_listener, that_is_assigned_another_removes_its_file_and_takes_over) {
  run_test([]() -> gyre::task<> {
    const scratch dir;
    const std::string first = dir.path("first");
    const std::string second = dir.path("second");
    {
      unix_listener listener = unix_listener::bind(unix_address(first));
      {
        unix_listener other = unix_listener::bind(unix_address(second));
        listener = std::move(other);
      }
      EXPECT_FALSE(std::filesystem::exists(first));
      EXPECT_TRUE(std::filesystem::exists(second));  // the moved-from listener has not removed it
      EXPECT_EQ(listener.local_address(), unix_address(second));
      unix_stream client = co_await unix_stream::connect(unix_address(second));
      unix_stream served = co_await listener.accept();
      EXPECT_EQ(co_await client.write_all("x"), 1U);
    }
    EXPECT_FALSE(std::filesystem::exists(second));
  });
}

TEST(unix_listener, that_is_assigned_itself_goes_on) {
  run_test([]() -> gyre::task<> {
    const scratch dir;
    unix_listener listener = unix_listener::bind(unix_address(dir.path("one")));
    unix_listener& same = listener;
    listener = std::move(same);
    EXPECT_TRUE(std::filesystem::exists(dir.path("one")));
    unix_stream client = co_await unix_stream::connect(unix_address(dir.path("one")));
    EXPECT_EQ(co_await client.write_all("x"), 1U);
  });
}
