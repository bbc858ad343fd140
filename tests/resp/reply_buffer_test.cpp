// tests/resp/reply_buffer_test.cpp: replies on the wire, reuse of memory, and its limit.
#include "programs/resp_server/reply_buffer.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <string>

using resp::reply_buffer;

TEST(reply_buffer, every_kind_of_reply_has_its_form) {
  reply_buffer reply(1000);
  reply.append("+OK\r\n");
  reply.append_error("ERR a\r\nb");
  reply.append_integer(0);
  reply.append_integer(-1);
  reply.append_integer(std::numeric_limits<std::int64_t>::min());
  reply.append_bulk("");
  reply.append_bulk("0123456789");
  reply.append_null();
  reply.append_array(12);
  EXPECT_EQ(reply.view(),
            "+OK\r\n-ERR a  b\r\n:0\r\n:-1\r\n:-9223372036854775808\r\n$0\r\n\r\n$10\r\n0123456789\r\n$-1\r\n*12\r\n");
}

TEST(reply_buffer, it_grows_and_keeps_its_bytes) {
  reply_buffer reply(1'000'000);
  std::string expected;
  for (int i = 0; i < 20'000; ++i) {
    reply.append_integer(i);
    expected += ":" + std::to_string(i) + "\r\n";
  }
  EXPECT_EQ(reply.view(), expected);
}

TEST(reply_buffer, a_reply_over_the_limit_is_left_out_as_a_whole) {
  reply_buffer reply(100);
  reply.append("+OK\r\n");
  EXPECT_EQ(reply.overflow(), 0U);
  reply.append_bulk(std::string(100, 'x'));
  EXPECT_GE(reply.overflow(), 106U);
  EXPECT_LE(reply.overflow(), 130U);
  EXPECT_EQ(reply.view(), "+OK\r\n");
  reply.set_limit(5 + reply.overflow());
  reply.clear_overflow();
  reply.append_bulk(std::string(100, 'x'));
  EXPECT_EQ(reply.overflow(), 0U);
  EXPECT_EQ(reply.view(), "+OK\r\n$100\r\n" + std::string(100, 'x') + "\r\n");
}

TEST(reply_buffer, clearing_keeps_the_memory_up_to_the_limit) {
  reply_buffer reply(100'000);
  reply.append_bulk(std::string(10'000, 'x'));
  const std::size_t capacity = reply.capacity();
  reply.clear();
  EXPECT_EQ(reply.size(), 0U);
  EXPECT_EQ(reply.capacity(), capacity);
  reply.set_limit(1000);
  reply.clear();
  EXPECT_EQ(reply.capacity(), 0U);
}
