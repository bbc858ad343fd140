// src/http/exchange/body_writer.cpp: checks the length of a body, and that each of its pieces was whole.
#include <gyre/fs/file.hpp>
#include <gyre/http/body_writer.hpp>
#include <gyre/http/field.hpp>
#include <gyre/http/field_line.hpp>
#include <gyre/io/io_error.hpp>
#include <gyre/net/bulk.hpp>

#include <stdexcept>
#include <string>

namespace gyre::http {

/// A piece that is being added. Until it is whole, nothing may follow.
class body_writer::piece {
 public:
  piece(body_writer& writer, const char* operation, std::uint64_t bytes) : writer_(writer) {
    writer.expect_whole(operation);
    writer.count(bytes);
    writer.cut_off_ = true;
  }
  piece& operator=(piece&&) = delete;
  void complete() noexcept { writer_.cut_off_ = false; }

 private:
  body_writer& writer_;
};

void body_writer::expect_whole(const char* operation) const {
  owner_.check(operation);
  if (!cut_off_) return;
  const std::error_code known = sink_->error();
  throw io_error(known ? known : std::make_error_code(std::errc::operation_canceled), operation, "the response's body");
}

void body_writer::count(std::uint64_t bytes) {
  if (bytes > announced_ - written_) throw std::logic_error("the body of the response is longer than was announced");
  written_ += bytes;
}

task<> body_writer::write(std::string_view bytes) {
  piece here(*this, "write", bytes.size());
  co_await sink_->write(bytes);
  here.complete();
}

task<> body_writer::write_bulk(socket_bulk& bulk) {
  piece here(*this, "write", bulk.size());
  co_await sink_->write_bulk(bulk);
  here.complete();
}

GYRE_CORO_WRAPPER task<> body_writer::send_file(const fs::file& file, std::uint64_t offset, std::uint64_t size) {
  return send_file(file.native_descriptor(), offset, size);
}

task<> body_writer::send_file(int file, std::uint64_t offset, std::uint64_t size) {
  piece here(*this, "send_file", size);
  if (size > 0) co_await sink_->send_file(file, offset, size);
  here.complete();
}

task<> body_writer::flush() {
  expect_whole("flush");
  co_await sink_->flush();
}

void body_writer::append(std::string_view bytes) {
  owner_.check("append");
  if (sink_->waiting() >= max_waiting) sink_->push();
  if (sink_->waiting() >= max_waiting)
    throw io_error(std::make_error_code(std::errc::no_buffer_space), "append", "the response's body");
  count(bytes.size());
  if (bytes.empty() || cut_off_) return;
  cut_off_ = true;  // until the piece is whole
  sink_->append(bytes);
  cut_off_ = false;
}

void body_writer::add_trailer(std::string_view name, std::string_view value) {
  owner_.check("add_trailer");
  if (!may_be_trailer(name))
    throw std::invalid_argument("trailer \"" + std::string(name) + "\": a client needs this field before the body");
  check_field(name, value);
  sink_->add_trailer(name, value);
}

void body_writer::send_head() {
  owner_.check("send_head");
  sink_->send_head();
}

}  // namespace gyre::http
