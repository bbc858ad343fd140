// src/http/transport/stream_transport.cpp: turns the exceptions of any_stream into values.
#include <gyre/coro/cancelled.hpp>
#include <gyre/io/file_bytes.hpp>
#include <gyre/loop/as_expected.hpp>
#include <gyre/loop/timeout_op.hpp>
#include <gyre/tasks/timeout.hpp>
#include <gyre/tasks/to_thread.hpp>

#include "stream_transport.hpp"

#include <algorithm>
#include <string>
#include <system_error>
#include <utility>

namespace gyre::http {
namespace {

constexpr std::size_t buffer_size = std::size_t{16} << 10U;

// Called while the exception is being handled.
std::error_code outcome_of_failure() {
  try {
    throw;
  } catch (const timed_out&) {
    return time_limit_passed();
  } catch (const std::system_error& error) {
    if (error.code() != make_error_code(stream_errc::end_of_stream)) return error.code();
    return std::make_error_code(std::errc::connection_aborted);  // an end in the wrong place
  } catch (const std::exception&) {
    return std::make_error_code(std::errc::io_error);
  }
}

}  // namespace

task<> stream_transport::read() {
  for (;;) {
    if (end_ && watch_ != nullptr && !receiving_) {  // a receiver gets the end itself
      end_watch& watch = *std::exchange(watch_, nullptr);
      watch.ended(watch);
    }
    if (wants_bytes()) {
      co_await read_once();
    } else {
      wanted_.clear();
      co_await wanted_.wait();
    }
  }
}

task<> stream_transport::read_once() {
  auto* const block = new std::byte[buffer_size];
  buffer_lease lease(block, {block, buffer_size});
  std::size_t size = 0;
  try {
    size = co_await stream_.read_some(lease.bytes());
    if (size == 0) end_ = make_error_code(stream_errc::end_of_stream);
  } catch (const cancelled&) {
    throw;
  } catch (...) {  // not a cancel
    end_ = outcome_of_failure();
  }
  if (size > 0) {
    lease.shorten(size);
    received_[(first_ + count_) % max_ahead] = std::move(lease);
    ++count_;
  }
  changed_.set();
}

task<std::error_code> stream_transport::receive(buffer_lease& into, std::chrono::nanoseconds limit) {
  bool in_time = true;
  if (count_ == 0 && !end_) {
    struct receiving {
      bool& flag;
      explicit receiving(bool& f) noexcept : flag(f) { flag = true; }
      receiving& operator=(receiving&&) = delete;
      ~receiving() { flag = false; }
    } const here(receiving_);
    changed_.clear();
    wanted_.set();
    const auto waited = co_await as_expected(timeout(limit, changed_.wait()));
    in_time = waited.has_value();
  }
  if (count_ > 0) {
    into = std::move(received_[first_]);
    first_ = (first_ + 1) % max_ahead;
    --count_;
    wanted_.set();
    co_return std::error_code();
  }
  if (end_) co_return end_;
  co_return in_time ? std::make_error_code(std::errc::operation_canceled) : time_limit_passed();
}

// The waiting receive finds nothing although it has not timed out.
void stream_transport::interrupt() noexcept { changed_.set(); }

// `read` notifies the watch, also of an end that is already known.
void stream_transport::watch_end(end_watch* watch) noexcept {
  watch_ = watch;
  if (watch != nullptr) wanted_.set();
}

task<std::error_code> stream_transport::write(std::string_view first, std::string_view second,
                                              std::chrono::nanoseconds limit) {
  try {
    for (std::string_view rest : {first, second}) {
      while (!rest.empty()) {
        const std::string_view piece = rest.substr(0, taken_within_limit);
        co_await timeout(limit, stream_.write_all(std::as_bytes(std::span(piece))));
        rest.remove_prefix(piece.size());
      }
    }
    co_return std::error_code();
  } catch (const std::exception&) {
    co_return outcome_of_failure();
  }
}

task<send_file_result> stream_transport::send_file(int file, std::uint64_t offset, std::size_t count,
                                                   std::chrono::nanoseconds limit) {
  std::string buffer(std::min(count, 4 * buffer_size), '\0');
  send_file_result result;
  while (result.sent < count && !result.outcome) {
    auto read = [file, &buffer, at = offset + result.sent, max_count = std::min(buffer.size(), count - result.sent)] {
      return io::read_at(file, buffer.data(), max_count, at);
    };
    const std::ptrdiff_t size = co_await to_thread(io::blocking_pool::for_files(), read);
    if (size == 0) break;
    if (size < 0) {
      result.outcome = result.file_error = std::error_code(static_cast<int>(-size), std::generic_category());
      break;
    }
    const auto part = std::string_view(buffer).substr(0, static_cast<std::size_t>(size));
    result.outcome = co_await write(part, {}, limit);
    if (!result.outcome) result.sent += part.size();
  }
  co_return result;
}

task<> stream_transport::shutdown_write() {
  try {
    co_await timeout(end_limit_, stream_.shutdown_write());
  } catch (const timed_out&) {  // over TLS, even the end needs a peer that reads
    reset_at_end();
  } catch (const std::exception&) {  // closed already, or not supported: the connection ends anyway
  }
}

task<> stream_transport::say_goodbye() {
  constexpr std::chrono::seconds patience(2);
  if (reset_ || is_broken()) co_return;
  try {
    co_await timeout(patience, shutdown_write());
  } catch (const timed_out&) {  // it does not read
  }
}

}  // namespace gyre::http
