// src/http/server/body_writer.cpp: writes the pieces of a body, framed as chunks where needed. RFC 9112 §7.1.
#include <gyre/fs/file.hpp>
#include <gyre/http/body_writer.hpp>
#include <gyre/http/field.hpp>
#include <gyre/http/head_writer.hpp>
#include <gyre/io/file_bytes.hpp>
#include <gyre/io/io_error.hpp>
#include <gyre/net/bulk.hpp>
#include <gyre/tasks/to_thread.hpp>

#include "http1/response_head.hpp"
#include "message_output.hpp"

#include <algorithm>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <utility>

namespace gyre::http {
namespace {

void check(transfer outcome) {
  if (outcome == transfer::done) return;
  const auto reason = outcome == transfer::timed_out ? std::errc::timed_out : std::errc::broken_pipe;
  throw io_error(std::make_error_code(reason), "write", "the response's body");
}

}  // namespace

void body_writer::count(std::uint64_t bytes) {
  if (bytes > announced_ - written_) throw std::logic_error("the body of the response is longer than was announced");
  written_ += bytes;
}

void body_writer::expect_whole(const char* operation) const {
  if (output_ != nullptr) {
    output_->check_loop(operation);
    check(output_->state());
  }
  if (cut_off_) check(transfer::failed);
}

task<> body_writer::write(std::string_view piece) {
  expect_whole("write");
  count(piece.size());
  if (filter_ == nullptr && piece.empty()) co_return;
  cut_off_ = true;  // until the piece is whole
  if (filter_ != nullptr) {
    co_await filter_->write(piece);
    cut_off_ = false;
    co_return;
  }
  release_head();
  if (form_ == form::chunked) append_chunk_size(output_->buffer(), piece.size());
  check(co_await output_->write(piece));
  if (form_ == form::chunked) output_->buffer().append("\r\n");
  cut_off_ = false;
  if (!output_->settle(upcoming::waiting_for_handler)) check(co_await output_->flush());
}

socket_state* body_writer::bulk_target() const noexcept {
  return filter_ == nullptr && form_ == form::plain ? output_->bulk_target() : nullptr;
}

task<> body_writer::write_bulk(socket_bulk& bulk) {
  expect_whole("write");
  count(bulk.size());
  cut_off_ = true;  // until the piece is whole
  release_head();
  check(co_await output_->write_bulk(bulk));
  cut_off_ = false;
}

std::size_t body_writer::waiting() const noexcept {
  if (filter_ != nullptr) return filter_->waiting();
  output_->check_loop("waiting");
  return output_->failed() ? 0 : output_->waiting();
}

void body_writer::append(std::string_view piece) {
  if (output_ != nullptr) output_->check_loop("append");
  if (filter_ == nullptr) output_->make_room(max_waiting);
  if (waiting() >= max_waiting)
    throw io_error(std::make_error_code(std::errc::no_buffer_space), "append", "the response's body");
  count(piece.size());
  if (piece.empty() || cut_off_) return;
  cut_off_ = true;  // until the piece is whole
  if (filter_ != nullptr) {
    filter_->append(piece);
    cut_off_ = false;
    return;
  }
  if (output_->failed()) return;
  release_head();
  if (form_ == form::chunked) append_chunk_size(output_->buffer(), piece.size());
  output_->buffer().append(piece);
  if (form_ == form::chunked) output_->buffer().append("\r\n");
  cut_off_ = false;
  (void)output_->settle(upcoming::waiting_for_handler);
}

GYRE_CORO_WRAPPER task<> body_writer::send_file(const fs::file& file, std::uint64_t offset, std::uint64_t size) {
  return send_file(file.native_descriptor(), offset, size);
}

task<> body_writer::send_file(int file, std::uint64_t offset, std::uint64_t size) {
  expect_whole("send_file");
  count(size);
  if (size == 0) co_return;
  cut_off_ = true;  // until the part is whole
  if (filter_ != nullptr) {
    co_await filter_file(file, offset, size);
    cut_off_ = false;
    co_return;
  }
  release_head();
  if (form_ == form::chunked) append_chunk_size(output_->buffer(), size);
  check(co_await output_->send_file(file, offset, size));
  if (form_ == form::chunked) output_->buffer().append("\r\n");
  cut_off_ = false;
  if (!output_->settle(upcoming::waiting_for_handler)) check(co_await output_->flush());
}

// Reads the file in pieces, because a filter has to see the bytes. Reading may block.
task<> body_writer::filter_file(int file, std::uint64_t offset, std::uint64_t size) {
  constexpr std::uint64_t most = std::uint64_t{64} << 10U;
  std::string piece;
  while (size > 0) {
    int error = 0;
    auto read = [&] {
      piece.resize_and_overwrite(static_cast<std::size_t>(std::min(size, most)), [&](char* to, std::size_t room) {
        const std::ptrdiff_t n = io::read_at(file, to, room, offset);
        if (n < 0) error = static_cast<int>(-n);
        return n < 0 ? 0 : static_cast<std::size_t>(n);
      });
    };
    co_await to_thread(io::blocking_pool::for_files(), read);
    if (error != 0) throw io_error({error, std::generic_category()}, "read", "the response's body");
    if (piece.empty()) throw io_error(std::make_error_code(std::errc::io_error), "read", "a file that became shorter");
    co_await filter_->write(piece);
    offset += piece.size();
    size -= piece.size();
  }
}

void body_writer::add_trailer(std::string_view name, std::string_view value) {
  if (output_ != nullptr) output_->check_loop("add_trailer");
  if (!may_be_trailer(name))
    throw std::invalid_argument("trailer \"" + std::string(name) + "\": a client needs this field before the body");
  std::string line;
  head_writer(line).field(name, value);
  if (filter_ != nullptr)
    filter_->add_trailer(name, value);
  else
    trailers_ += line;
}

task<> body_writer::flush() {
  expect_whole("flush");
  if (filter_ != nullptr) {
    co_await filter_->flush();
    co_return;
  }
  release_head();
  check(co_await output_->flush());
}

void body_writer::release_head() { output_->buffer().append(std::exchange(head_, {})); }

void body_writer::send_head() {
  if (filter_ != nullptr) return filter_->send_head();
  output_->check_loop("send_head");
  if (head_.empty() || output_->failed()) return;
  release_head();
  (void)output_->settle(upcoming::waiting_for_handler);
}

}  // namespace gyre::http
