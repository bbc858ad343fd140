// src/http/stream_transport.cpp: the functions of any_stream throw; here their errors become values.
#include <gyre/coro/cancel_scope.hpp>
#include <gyre/coro/cancelled.hpp>
#include <gyre/tasks/timeout.hpp>
#include <gyre/tasks/to_thread.hpp>

#include "stream_transport.hpp"

#include <unistd.h>

#include <algorithm>
#include <string>

namespace gyre::http {
namespace {

constexpr std::size_t buffer_size = std::size_t{16} << 10U;

// Called while the exception is handled.
transfer outcome_of_failure() {
  try {
    throw;
  } catch (const timed_out&) {
    return transfer::timed_out;
  } catch (const std::exception&) {
    return transfer::failed;
  }
}

std::span<const std::byte> bytes_of(std::string_view text) { return std::as_bytes(std::span(text)); }

}  // namespace

task<transfer> stream_transport::receive(buffer_lease& into, std::chrono::nanoseconds limit) {
  auto* const block = new std::byte[buffer_size];
  buffer_lease lease(block, {block, buffer_size});
  cancel_scope scope;
  scope.open(co_await this_task_context{});
  receiving_ = &scope;
  transfer outcome = transfer::failed;
  std::size_t size = 0;
  try {
    size = co_await timeout(limit, stream_.read_some(lease.bytes()));
    outcome = size == 0 ? transfer::ended : transfer::done;
  } catch (const cancelled&) {
    receiving_ = nullptr;
    if (!scope.absorbs_cancel()) throw;
  } catch (...) {  // what is left is no cancel
    outcome = outcome_of_failure();
  }
  receiving_ = nullptr;
  if (outcome == transfer::done) {
    lease.shorten(size);
    into = std::move(lease);
  }
  co_return outcome;
}

void stream_transport::interrupt() noexcept {
  if (receiving_ != nullptr) receiving_->cancel();
}

task<transfer> stream_transport::write(std::string_view first, std::string_view second,
                                       std::chrono::nanoseconds limit) {
  try {
    if (!first.empty()) co_await timeout(limit, stream_.write_all(bytes_of(first)));
    if (!second.empty()) co_await timeout(limit, stream_.write_all(bytes_of(second)));
    co_return transfer::done;
  } catch (const std::exception&) {
    co_return outcome_of_failure();
  }
}

task<transfer> stream_transport::send_file(int file, std::uint64_t offset, std::size_t count,
                                           std::chrono::nanoseconds limit, std::size_t& sent) {
  std::string buffer(std::min(count, 4 * buffer_size), '\0');
  while (sent < count) {
    auto read = [file, &buffer, at = offset + sent, most = std::min(buffer.size(), count - sent)] {
      return ::pread(file, buffer.data(), most, static_cast<off_t>(at));
    };
    const auto size = co_await to_thread(read);
    if (size < 0) co_return transfer::failed;
    if (size == 0) break;
    const auto part = std::string_view(buffer).substr(0, static_cast<std::size_t>(size));
    if (const transfer outcome = co_await write(part, {}, limit); outcome != transfer::done) co_return outcome;
    sent += part.size();
  }
  co_return transfer::done;
}

task<> stream_transport::shutdown_write() {
  try {
    co_await stream_.shutdown_write();
  } catch (const std::exception&) {  // gone already, or cannot: what follows is the end
  }
}

}  // namespace gyre::http
