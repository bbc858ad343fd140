// src/http/transport/socket_transport.cpp: every await has a time limit, and returns errors as values.
#include <gyre/coro/scope_exit.hpp>
#include <gyre/io/io_error.hpp>
#include <gyre/loop/as_expected.hpp>
#include <gyre/net/bulk.hpp>

#include "socket_transport.hpp"

#include <array>
#include <cerrno>
#include <system_error>

namespace gyre::http {
namespace {

// sendfile(2) reports errors of the file and of the socket by the same errno. Errors of the peer or the network are
// routine for a server. Any other error is the fault of the file or the program.
bool is_of_connection(std::error_code reason) noexcept {
  if (reason.category() == stream_category()) return true;
  for (const std::errc each : {std::errc::broken_pipe, std::errc::connection_reset, std::errc::connection_aborted,
                               std::errc::connection_refused, std::errc::not_connected, std::errc::timed_out,
                               std::errc::host_unreachable, std::errc::network_unreachable, std::errc::network_down,
                               std::errc::network_reset, std::errc::operation_canceled})
    if (reason == each) return true;
  return reason.value() == EHOSTDOWN;
}

template <class T>
std::error_code outcome_of(const std::expected<T, std::error_code>& result, bool expired) noexcept {
  if (result) return {};
  return expired ? time_limit_passed() : result.error();
}

}  // namespace

send_file_result result_of_file(const std::expected<std::size_t, std::error_code>& outcome, bool expired) noexcept {
  send_file_result result;
  if (outcome) {
    result.sent = *outcome;
    return result;
  }
  result.outcome = expired ? time_limit_passed() : outcome.error();
  if (!expired && !is_of_connection(outcome.error())) result.file_error = outcome.error();
  return result;
}

task<std::error_code> socket_transport::receive(buffer_lease& into, std::chrono::nanoseconds limit) {
  co_return co_await receiving(*this, into, limit);
}

GYRE_CORO_WRAPPER task<std::error_code> socket_transport::write(std::string_view first, std::string_view second,
                                                                std::chrono::nanoseconds limit) {
  if (first.empty() || second.empty()) return write_one(first.empty() ? second : first, limit);
  return write_both(first, second, limit);
}

task<std::error_code> socket_transport::write_one(std::string_view bytes, std::chrono::nanoseconds limit) {
  const send_deadline waiting(stream_, limit, taken_within_limit, taken_);
  const auto written = co_await as_expected(stream_.write_all(bytes));
  co_return outcome_of(written, waiting.expired());
}

// A separate coroutine: with g++, a frame for both cases would be larger than the frames that the pool keeps.
task<std::error_code> socket_transport::write_both(std::string_view first, std::string_view second,
                                                   std::chrono::nanoseconds limit) {
  const send_deadline waiting(stream_, limit, taken_within_limit, taken_);
  const std::array<io::const_buffer, 2> both{
      {{.data = first.data(), .size = first.size()}, {.data = second.data(), .size = second.size()}}};
  const auto written = co_await as_expected(stream_.write_all(std::span<const io::const_buffer>(both)));
  co_return outcome_of(written, waiting.expired());
}

task<send_file_result> socket_transport::send_file(int file, std::uint64_t offset, std::size_t count,
                                                   std::chrono::nanoseconds limit) {
  const send_deadline waiting(stream_, limit, taken_within_limit, taken_);
  const auto outcome = co_await as_expected(stream_.send_file(file, offset, count));
  co_return result_of_file(outcome, waiting.expired());
}

task<std::error_code> socket_transport::receive_bulk(socket_bulk& piece, std::uint64_t max_count,
                                                     std::chrono::nanoseconds limit) {
  const scope_exit stop_clock([this]() noexcept { receiving_.end(); });
  receiving_.begin(limit);
  const auto received = co_await as_expected(piece.receive(max_count));
  co_return outcome_of(received, receiving_.expired());
}

task<std::error_code> socket_transport::write_bulk(socket_bulk& piece, std::chrono::nanoseconds limit) {
  const send_deadline waiting(stream_, limit, taken_within_limit, taken_);
  const auto written = co_await as_expected(piece.write());
  co_return outcome_of(written, waiting.expired());
}

std::ptrdiff_t socket_transport::write_now(std::string_view bytes, write_hint hint) noexcept {
  if (hint == write_hint::waits_for_rest && stream_.socket().submits_writes()) return 0;
  return stream_.socket().write_now(bytes, hint == write_hint::more_follows);
}

task<> socket_transport::shutdown_write() { (void)co_await as_expected(stream_.shutdown_write()); }

}  // namespace gyre::http
