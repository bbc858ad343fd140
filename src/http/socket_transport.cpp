// src/http/socket_transport.cpp: every await has its limit, and gives its errors as values.
#include <gyre/loop/as_expected.hpp>

#include "socket_transport.hpp"

#include <sys/socket.h>

#include <array>

namespace gyre::http {
task<transfer> socket_transport::receive(buffer_lease& into, std::chrono::nanoseconds limit) {
  const transfer_deadline::during waiting(receiving_, limit);
  auto got = co_await as_expected(stream_.receive());
  if (!got) co_return waiting.expired() ? transfer::timed_out : transfer::failed;
  if (got->empty()) co_return transfer::ended;
  into = *std::move(got);
  co_return transfer::done;
}

GYRE_CORO_WRAPPER task<transfer> socket_transport::write(std::string_view first, std::string_view second,
                                                         std::chrono::nanoseconds limit) {
  if (first.empty() || second.empty()) return write_one(first.empty() ? second : first, limit);
  return write_both(first, second, limit);
}

task<transfer> socket_transport::write_one(std::string_view bytes, std::chrono::nanoseconds limit) {
  const transfer_deadline::during waiting(sending_, limit);
  const auto written = co_await as_expected(stream_.write_all(bytes));
  co_return written ? transfer::done : waiting.expired() ? transfer::timed_out : transfer::failed;
}

// Apart, because a frame with both would be larger than what the pool of frames keeps, with g++.
task<transfer> socket_transport::write_both(std::string_view first, std::string_view second,
                                            std::chrono::nanoseconds limit) {
  const transfer_deadline::during waiting(sending_, limit);
  const std::array<io::const_buffer, 2> both{
      {{.data = first.data(), .size = first.size()}, {.data = second.data(), .size = second.size()}}};
  const auto written = co_await as_expected(stream_.write_all(std::span<const io::const_buffer>(both)));
  co_return written ? transfer::done : waiting.expired() ? transfer::timed_out : transfer::failed;
}

task<transfer> socket_transport::send_file(int file, std::uint64_t offset, std::size_t count,
                                           std::chrono::nanoseconds limit, std::size_t& sent) {
  const transfer_deadline::during waiting(sending_, limit);
  const auto outcome = co_await as_expected(stream_.send_file(file, offset, count));
  if (!outcome) co_return waiting.expired() ? transfer::timed_out : transfer::failed;
  sent = *outcome;
  co_return transfer::done;
}

std::size_t socket_transport::write_now(std::string_view bytes, bool more) noexcept {
  if (stream_.socket().first_writer() != nullptr) return 0;
  const int flags = MSG_DONTWAIT | MSG_NOSIGNAL | (more ? MSG_MORE : 0);
  const auto sent = ::send(stream_.native_descriptor(), bytes.data(), bytes.size(), flags);
  return sent < 0 ? 0 : static_cast<std::size_t>(sent);
}

void socket_transport::reset_at_end() noexcept {
  const linger at_once{.l_onoff = 1, .l_linger = 0};
  ::setsockopt(stream_.native_descriptor(), SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
}

task<> socket_transport::shutdown_write() { (void)co_await as_expected(stream_.shutdown_write()); }

}  // namespace gyre::http
