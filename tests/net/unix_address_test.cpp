// tests/net/unix_address_test.cpp: paths and abstract names of Unix sockets.
#include <gyre/net/unix_address.hpp>

#include "tests/net/connected_pair.hpp"

#include <sys/socket.h>
#include <sys/un.h>

using namespace gyre_test;

TEST(unix_address, refuses_a_text_that_is_too_long_or_empty) {
  EXPECT_EQ(gyre::unix_address::parse("").error(), std::errc::invalid_argument);
  EXPECT_EQ(gyre::unix_address::parse(std::string(108, 'x')).error(), std::errc::filename_too_long);
  EXPECT_EQ(gyre::unix_address::parse(std::string("a\0b", 3)).error(), std::errc::invalid_argument);
  EXPECT_EQ(gyre::unix_address::parse(std::string(107, 'x'))->name(), std::string(107, 'x'));
  EXPECT_EQ(gyre::unix_address::parse("@" + std::string(107, 'x'))->name(), std::string(107, 'x'));
  EXPECT_THROW(gyre::unix_address(std::string(108, 'x')), gyre::io_error);
}

TEST(unix_address, an_address_that_is_none_is_unnamed) {
  const gyre::unix_address none;
  EXPECT_EQ(none.name(), "");
  EXPECT_EQ(none.string(), "unnamed");
  const sockaddr_un name{.sun_family = AF_UNIX, .sun_path = "/run/x"};
  EXPECT_TRUE(gyre::unix_address::from_raw(&name, sizeof(name) + 1).is_unnamed()) << "no kernel gives so much";
  EXPECT_EQ(gyre::unix_address::from_raw(&name, sizeof(name)).string(), "/run/x");
}

TEST(unix_address, a_path_and_the_abstract_name_of_the_same_letters_differ) {
  EXPECT_NE(gyre::unix_address("name"), gyre::unix_address("@name"));
  EXPECT_EQ(gyre::unix_address("@name"), gyre::unix_address("@name"));
  EXPECT_TRUE(gyre::unix_address().is_unnamed());
}
