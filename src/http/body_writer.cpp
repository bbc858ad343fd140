// src/http/body_writer.cpp: pieces of a body, with the frames of chunks around them. RFC 9112 §7.1.
#include <gyre/http/body_writer.hpp>
#include <gyre/io/io_error.hpp>

#include "message_output.hpp"
#include "response_head.hpp"

#include <stdexcept>

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

task<> body_writer::write(std::string_view piece) {
  count(piece.size());
  if (piece.empty()) co_return;
  if (form_ == form::chunked) append_chunk_size(output_->buffer(), piece.size());
  check(co_await output_->write(piece));
  if (form_ == form::chunked) output_->buffer().append("\r\n");
  output_->flush_when_waiting();
  if (!output_->flushes_when_waiting()) check(co_await output_->flush());
}

task<> body_writer::send_file(const fs::file& file, std::uint64_t offset, std::uint64_t size) {
  count(size);
  if (size == 0) co_return;
  if (form_ == form::chunked) append_chunk_size(output_->buffer(), size);
  check(co_await output_->send_file(file.native_descriptor(), offset, size));
  if (form_ == form::chunked) output_->buffer().append("\r\n");
  output_->flush_when_waiting();
  if (!output_->flushes_when_waiting()) check(co_await output_->flush());
}

task<> body_writer::flush() { check(co_await output_->flush()); }

}  // namespace gyre::http
