// tests/resp/reply_buffer_test.cpp: replies on the wire, reuse of memory, and its limit.
#include "programs/resp_server/reply_buffer.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <utility>

using resp::reply_buffer;

TEST(reply_buffer, every_kind_of_reply) {
  reply_buffer reply;
  reply.append("");
  EXPECT_EQ(reply.capacity(), 0u);
  reply.append_status("OK");
  reply.append_error("ERR a\r\nb\r\n");
  reply.append_integer(0);
  reply.append_integer(-1);
  reply.append_integer(std::numeric_limits<std::int64_t>::min());
  reply.append_bulk("");
  reply.append_bulk("0123456789");
  reply.append_null();
  reply.append_array(0);
  reply.append_array(12);
  EXPECT_EQ(
      reply.view(),
      "+OK\r\n-ERR a  b\r\n:0\r\n:-1\r\n:-9223372036854775808\r\n$0\r\n\r\n$10\r\n0123456789\r\n$-1\r\n*0\r\n*12\r\n");
}

TEST(reply_buffer, grows_and_keeps_what_was_written) {
  reply_buffer reply;
  std::string expected;
  for (int i = 0; i < 20'000; ++i) {
    reply.append_integer(i);
    expected += ":" + std::to_string(i) + "\r\n";
  }
  EXPECT_EQ(reply.view(), expected);
}

TEST(reply_buffer, clearing_keeps_the_memory_up_to_a_size) {
  reply_buffer reply;
  reply.append_bulk(std::string(10'000, 'x'));
  const std::size_t capacity = reply.capacity();
  reply.clear();
  EXPECT_TRUE(reply.empty());
  EXPECT_EQ(reply.capacity(), capacity);
  reply.clear(1000);
  EXPECT_EQ(reply.capacity(), 0u);
  reply.append_status("OK");
  EXPECT_EQ(reply.view(), "+OK\r\n");
}

TEST(reply_buffer, over_the_limit_everything_is_only_counted_until_it_is_cleared) {
  reply_buffer reply(100);
  reply.append_status("OK");
  EXPECT_FALSE(reply.overflowed());
  const std::size_t mark = reply.mark();
  reply.append("0123456789");
  reply.append(std::string(100, 'x'));
  EXPECT_TRUE(reply.overflowed());
  reply.append_status("OK");  // would fit, but follows a reply that is missing
  EXPECT_EQ(reply.wanted(), 5u + 110 + 5);
  reply.drop_from(mark);
  EXPECT_EQ(reply.wanted(), 5u + 110 + 5);
  reply.append("more");
  EXPECT_EQ(reply.view(), "+OK\r\n");
  reply.clear();
  EXPECT_FALSE(reply.overflowed());
  reply.append_status("again");
  EXPECT_EQ(reply.view(), "+again\r\n");
  EXPECT_LE(reply.capacity(), 512u);
}

TEST(reply_buffer, moves_leave_an_empty_buffer_that_works) {
  reply_buffer one;
  one.append_status("one");
  reply_buffer two = std::move(one);
  EXPECT_EQ(two.view(), "+one\r\n");
  one.append_status("more");  // NOLINT(bugprone-use-after-move): that is the promise
  EXPECT_EQ(one.view(), "+more\r\n");
  one = std::move(two);
  EXPECT_EQ(one.view(), "+one\r\n");
}

TEST(reply_buffer, an_array_of_unknown_length_moves_only_what_is_before_it) {
  for (const int count : {0, 3, 12}) {
    reply_buffer reply;
    reply.append_status("before");
    const std::size_t mark = reply.begin_array();
    std::string elements;
    for (int i = 0; i < count; ++i) {
      reply.append_integer(i);
      elements += ":" + std::to_string(i) + "\r\n";
    }
    const char* const end = reply.view().data() + reply.view().size();
    reply.finish_array(mark, static_cast<std::size_t>(count));
    reply.append_status("after");
    EXPECT_EQ(reply.view(), "+before\r\n*" + std::to_string(count) + "\r\n" + elements + "+after\r\n");
    EXPECT_EQ(reply.view().data() + reply.view().size(), end + 8);
    reply.clear();
    EXPECT_TRUE(reply.empty());
    reply.append_status("again");
    EXPECT_EQ(reply.view(), "+again\r\n");
  }
}

TEST(reply_buffer, an_array_that_overflows_can_be_taken_back) {
  reply_buffer reply(100);
  reply.append_status("before");
  const std::size_t mark = reply.begin_array();
  for (int i = 0; i < 100; ++i) reply.append_integer(7);
  EXPECT_TRUE(reply.overflowed());
  reply.finish_array(mark, 100);
  reply.drop_from(mark);
  EXPECT_EQ(reply.view(), "+before\r\n");
}

TEST(reply_buffer, a_lower_limit_leaves_what_is_there) {
  reply_buffer reply;
  reply.append(std::string(1000, 'x'));
  reply.set_limit(100);
  reply.append(std::string(1000, 'x'));
  EXPECT_TRUE(reply.overflowed());
  EXPECT_EQ(reply.size(), 1000u);
}
