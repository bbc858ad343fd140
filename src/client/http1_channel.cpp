// src/client/http1_channel.cpp: chunks, and the bytes of a response.
#include "http1_channel.hpp"

#include <gyre/http/head_writer.hpp>
#include <gyre/tasks/as_expected.hpp>

#include <algorithm>
#include <cstring>
#include <stdexcept>

namespace gyre::http {
namespace {

/// Begins with the bytes that have arrived after the head.
class switched_stream {
 public:
  switched_stream(connection_owner connection, std::string early) noexcept
      : connection_(std::move(connection)), early_(std::move(early)) {}

  task<std::size_t> read_some(std::span<std::byte> buffer) {
    if (used_ < early_.size()) {
      const std::size_t count = std::min(buffer.size(), early_.size() - used_);
      if (count > 0) std::memcpy(buffer.data(), early_.data() + used_, count);
      used_ += count;
      co_return count;
    }
    co_return co_await connection_->read_some(buffer);
  }
  GYRE_CORO_WRAPPER task<> write_all(std::span<const std::byte> bytes) { return connection_->write_all(bytes); }
  GYRE_CORO_WRAPPER task<> shutdown_write() { return connection_->shutdown_write(); }
  void abort() noexcept { connection_->abort(); }

 private:
  connection_owner connection_;
  std::string early_;
  std::size_t used_ = 0;
};

}  // namespace

task<write_outcome> http1_channel::send_chunk(std::string_view piece) {
  framed_.clear();
  head_writer writer(framed_);
  writer.chunk_begin(piece.size());
  if (piece.size() > record) {
    const write_outcome written = co_await connection_->write(framed_, piece);
    if (written.error) co_return written;
    framed_.clear();
  } else {
    framed_ += piece;
  }
  writer.chunk_end();
  co_return co_await connection_->write(framed_);
}

task<write_outcome> http1_channel::send_end(std::span<const field> trailers) {
  for (const field& each : trailers)
    if (!may_be_trailer(each.name))
      throw std::invalid_argument("trailer \"" + std::string(each.name) + "\": a server needs it before the body");
  framed_.clear();
  head_writer(framed_).last_chunk(trailers);
  co_return co_await connection_->write(framed_);
}

std::span<char> http1_channel::buffer() {
  if (buffer_ == nullptr) buffer_ = std::make_unique<char[]>(record);
  return {buffer_.get(), record};
}

task<std::error_code> http1_channel::receive_more() {
  input_.release_lease();
  if (connection_->lends()) {
    auto lease = co_await as_expected(connection_->receive_lease());
    if (!lease) co_return lease.error();
    if (lease->empty()) co_return stream_errc::end_of_stream;
    input_.add(std::move(*lease));
  } else {
    const std::span<char> into = buffer();
    auto reading = connection_->read_some(std::as_writable_bytes(into));
    const auto count = co_await as_expected(std::move(reading));
    if (!count) co_return count.error();
    if (*count == 0) co_return stream_errc::end_of_stream;
    input_.add(std::string_view(into.data(), *count));
  }
  co_return std::error_code();
}

bool http1_channel::receive_arrived() {
  if (!connection_->lends()) return false;
  input_.release_lease();
  const std::span<char> into = buffer();
  connection_->socket().socket().descriptor().readable = true;  // only epoll tells that while nobody reads
  auto arrived = connection_->socket().read_some(into);
  if (!arrived.try_now()) return false;
  const auto count = arrived.take_result();
  if (!count || *count == 0) return false;
  input_.add(std::string_view(into.data(), *count));
  return true;
}

any_stream http1_channel::take_stream() {
  return any_stream(switched_stream(std::move(connection_), input_.take_rest()));
}

}  // namespace gyre::http
