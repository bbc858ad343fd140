// tests/proxy/forwarded_target_test.cpp: targets pass unchanged, and do not leave the path of a server.
#include "programs/gyre/proxy/forwarded_target.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

using programs::forwarded_target;

TEST(forwarded_target, without_a_path_of_the_server_it_is_that_of_the_client_byte_for_byte) {
  for (const char* const target :
       {"/", "/search?q=100%", "/x?u=%u00e9", "/a%", "/a/%2e%2e/b", "/a/../b", "/a//../b", "//host/a", "/..",
        "/x?q={\"a\":1}", "/x?q=a^b`<>\\", "/%2F..%5c;x/", "/a?", "/?a?b"})
    EXPECT_EQ(forwarded_target("/", target), target);
}

TEST(forwarded_target, of_the_absolute_form_it_is_the_path_and_the_query) {
  EXPECT_EQ(forwarded_target("/", "http://host:80/a/../b%?c"), "/a/../b%?c");
  EXPECT_EQ(forwarded_target("/", "http://host"), "/");
  EXPECT_EQ(forwarded_target("/", "http://host?c"), "/?c");
  EXPECT_EQ(forwarded_target("/", "http://host/a?"), "/a?");
  EXPECT_EQ(forwarded_target("/v1", "http://host/a"), "/v1/a");
}

TEST(forwarded_target, the_path_of_the_server_comes_first_and_the_rest_stays_as_it_is) {
  for (const char* const target : {"/", "/a%?b=%", "//a", "/a%2Fb", "/.a/..b/c..", "/...", "/a;b=../c", "/x?a=/../b"})
    EXPECT_EQ(forwarded_target("/v1", target), "/v1" + std::string(target));
  EXPECT_EQ(forwarded_target("/v1/", "/a"), "/v1/a");
}

TEST(forwarded_target, dot_segments_do_not_leave_the_path_of_the_server) {
  EXPECT_EQ(forwarded_target("/v1", "/../admin"), "/v1/admin");
  EXPECT_EQ(forwarded_target("/v1", "/a/%2e%2E/../../admin?b"), "/v1/admin?b");
  EXPECT_EQ(forwarded_target("/v1", "/a/./b/.."), "/v1/a/");
}

TEST(forwarded_target, one_that_a_server_could_read_so_that_it_leaves_the_path_is_refused) {
  for (const char* const target : {"/..%2fadmin", "/%2e%2e%2Fadmin", "/..%5cadmin", "/..\\admin", "/a\\..\\..\\admin",
                                   "/..;/admin", "/..;a=b/admin", "/a%2f..%2f..%2f", "/%2f.."})
    EXPECT_THROW((void)forwarded_target("/v1", target), std::invalid_argument) << target;
  EXPECT_EQ(forwarded_target("/v1", "/..%"), "/v1/..%");
}
