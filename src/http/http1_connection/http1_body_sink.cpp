// src/http/http1_connection/http1_body_sink.cpp: frames the pieces of a body. RFC 9112 §7.1.
#include <gyre/http/field_line.hpp>
#include <gyre/io/io_error.hpp>
#include <gyre/net/bulk.hpp>

#include "http1/response_head.hpp"
#include "http1_body_sink.hpp"

namespace gyre::http {
namespace {

void check_sent(std::error_code outcome) {
  if (outcome) throw io_error(outcome, "write", "the response's body");
}

}  // namespace

inline void http1_body_sink::begin_piece(std::uint64_t size) {
  release_head();
  if (chunked_) append_chunk_size(output_.buffer(), size);
}

task<> http1_body_sink::write(std::string_view piece) {
  check_sent(output_.error());
  if (piece.empty()) co_return;
  begin_piece(piece.size());
  if (!output_.append(piece))
    check_sent(co_await output_.write(piece));
  else if (!output_.settle(upcoming::more_output))
    check_sent(co_await output_.flush());
  if (chunked_) output_.buffer().append("\r\n");
  if (!output_.settle(upcoming::waiting_for_handler)) check_sent(co_await output_.flush());
}

void http1_body_sink::append(std::string_view piece) {
  if (output_.failed()) return;
  begin_piece(piece.size());
  output_.buffer().append(piece);
  if (chunked_) output_.buffer().append("\r\n");
  (void)output_.settle(upcoming::waiting_for_handler);
}

task<> http1_body_sink::send_file(int file, std::uint64_t offset, std::uint64_t count) {
  check_sent(output_.error());
  begin_piece(count);
  check_sent(co_await output_.send_file(file, offset, count));
  if (chunked_) output_.buffer().append("\r\n");
  if (!output_.settle(upcoming::waiting_for_handler)) check_sent(co_await output_.flush());
}

task<> http1_body_sink::flush() {
  check_sent(output_.error());
  release_head();
  check_sent(co_await output_.flush());
}

void http1_body_sink::send_head() {
  if (head_.empty() || output_.failed()) return;
  release_head();
  (void)output_.settle(upcoming::waiting_for_handler);
}

void http1_body_sink::add_trailer(std::string_view name, std::string_view value) {
  if (chunked_) append_field_line(trailers_, name, value);
}

socket_state* http1_body_sink::bulk_socket() const noexcept { return chunked_ ? nullptr : output_.bulk_target(); }

task<> http1_body_sink::write_bulk(socket_bulk& bulk) {
  check_sent(output_.error());
  release_head();
  check_sent(co_await output_.write_bulk(bulk));
}

void http1_body_sink::finish() {
  release_head();
  if (chunked_) output_.buffer().append("0\r\n").append(trailers_).append("\r\n");
}

}  // namespace gyre::http
