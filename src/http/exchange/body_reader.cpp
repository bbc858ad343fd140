// src/http/exchange/body_reader.cpp: reads a body within a limit.
#include <gyre/coro/misuse.hpp>
#include <gyre/http/body_reader.hpp>
#include <gyre/http/status_error.hpp>
#include <gyre/net/bulk.hpp>

#include <algorithm>
#include <cstring>

namespace gyre::http {

/// A wait for bytes. Nobody else may read meanwhile.
class body_reader::waiting {
 public:
  explicit waiting(body_reader& reader) noexcept : reader_(reader) { reader.waits_ = true; }
  waiting& operator=(waiting&&) = delete;
  ~waiting() { reader_.waits_ = false; }

 private:
  body_reader& reader_;
};

void body_reader::check_limit(std::uint64_t bytes) const {
  if (bytes <= limit_) return;
  throw status_error(413, "the request body exceeds the limit of " + std::to_string(limit_) + " bytes");
}

void body_reader::expect_one_reader() const {
  owner_.check("receive");
  if (waits_)
    misuse("two tasks read the body of one request at the same time: let one task read, and hand on what it has read");
}

task<> body_reader::ask_for_it() {
  if (known_length() > limit_) co_return;
  co_await source_->ask_for_it();
}

task<std::string_view> body_reader::receive_some(std::size_t max) {
  expect_one_reader();
  check_limit(known_length());
  std::string_view piece = source_->take(max);
  while (piece.empty() && !at_end()) {
    {
      const waiting here(*this);
      co_await source_->wait();
    }
    piece = source_->take(max);
  }
  received_ += piece.size();
  if (received_ > limit_) source_->give_up();
  check_limit(received_);
  co_return piece;
}

task<std::size_t> body_reader::receive_bulk(socket_bulk& bulk) {
  expect_one_reader();
  check_limit(known_length());
  const waiting here(*this);
  const std::size_t size = co_await source_->receive_bulk(bulk);
  received_ += size;
  co_return size;
}

GYRE_CORO_WRAPPER task<std::string_view> body_reader::receive() { return receive_some(std::string_view::npos); }

task<std::size_t> body_reader::read_some(std::span<std::byte> buffer) {
  if (buffer.empty()) co_return std::size_t{0};
  const std::string_view piece = co_await receive_some(buffer.size());
  if (!piece.empty()) std::memcpy(buffer.data(), piece.data(), piece.size());
  co_return piece.size();
}

task<std::string> body_reader::read_all() {
  std::string all;
  if (const auto whole = length()) {
    check_limit(*whole);
    constexpr std::uint64_t trusted = std::uint64_t{1} << 20U;  // beyond this, memory is allocated only as data arrives
    all.reserve(static_cast<std::size_t>(std::min(*whole - received_, trusted)));
  }
  for (;;) {
    const std::string_view piece = co_await receive();
    if (piece.empty()) break;
    all.append(piece);
  }
  co_return all;
}

}  // namespace gyre::http
