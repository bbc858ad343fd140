// src/client/client_response.cpp: a response as the program sees it.
#include <gyre/client/client_response.hpp>

#include <gyre/coro/misuse.hpp>
#include <gyre/fs/file.hpp>
#include <gyre/http/body_writer.hpp>

#include "client_exchange.hpp"
#include "copy_body.hpp"

#include <algorithm>
#include <utility>

namespace gyre::http {

void client_response::release(client_exchange* used) noexcept {
  used->check_loop("destructor");
  used->recycle();
}

client_exchange& client_response::open() const noexcept {
  if (!exchange_) misuse("a client_response was used that was moved from");
  return *exchange_;
}

int client_response::status() const noexcept { return open().response().status(); }
std::string_view client_response::reason() const noexcept { return open().response().reason(); }
std::span<const field> client_response::fields() const noexcept { return open().response().fields(); }
std::string_view client_response::field(std::string_view name) const noexcept {
  const http::field* const found = find_field(fields(), name);
  return found == nullptr ? std::string_view() : found->value;
}
const url& client_response::url() const noexcept { return open().request.url; }
bool client_response::reused_connection() const noexcept { return open().used_old_connection(); }

GYRE_CORO_WRAPPER task<std::string> client_response::read_all() {
  return read_all(open().state().options().limits.body);
}

task<std::string> client_response::read_all(std::uint64_t limit) {
  client_exchange& from = open();
  const auto refuse = [&] {
    throw client_error(client_errc::body_too_large, from.request.method, from.request.whole_url(),
                       std::to_string(limit) + " bytes; read it in pieces, or pass a larger limit to read_all");
  };
  std::string all;
  const auto announced = from.length();
  const std::uint64_t before = from.received();
  if (announced && *announced - before > limit) refuse();
  constexpr std::uint64_t max_reserved = std::uint64_t{1} << 20U;
  if (announced) all.reserve(static_cast<std::size_t>(std::min(*announced - before, max_reserved)));
  for (;;) {
    const std::string_view piece = co_await from.receive();
    if (piece.empty()) break;
    if (piece.size() > limit - all.size()) refuse();
    all += piece;
  }
  co_return all;
}

task_handle<void> client_response::sending() const noexcept { return open().sending(); }

any_stream client_response::take_stream() {
  any_stream stream = open().switched() ? open().take_stream() : any_stream();
  if (!stream) misuse("take_stream() needs a response with status 101 whose stream was not taken yet");
  return stream;
}

task<std::uint64_t> client_response::save(std::string path, void (*progress)(void*, std::uint64_t), void* argument) {
  client_exchange& from = open();
  auto opening = fs::file::open(path, fs::for_writing);
  fs::file to = co_await std::move(opening);
  std::uint64_t saved = 0;
  for (;;) {
    const std::string_view piece = co_await from.receive();
    if (piece.empty()) break;
    auto writing = to.write_all(piece);
    (void)co_await std::move(writing);
    saved += piece.size();
    if (progress != nullptr) progress(argument, saved);
  }
  co_await to.close();
  co_return saved;
}

GYRE_CORO_WRAPPER task<std::string_view> client_body::receive() { return exchange_->receive(); }

task<std::size_t> client_body::read_some(std::span<std::byte> buffer) {
  if (buffer.empty()) co_return std::size_t{0};
  const std::string_view piece = co_await exchange_->receive(buffer.size());
  std::copy(piece.begin(), piece.end(), reinterpret_cast<char*>(buffer.data()));
  co_return piece.size();
}

std::optional<std::uint64_t> client_body::length() const noexcept { return exchange_->length(); }
std::uint64_t client_body::received() const noexcept { return exchange_->received(); }
GYRE_CORO_WRAPPER task<std::uint64_t> client_body::copy_to(body_writer& to) { return copy_body(*exchange_, to); }
bool client_body::has_failed() const noexcept { return exchange_->has_failed(); }
bool client_body::is_decompressed() const noexcept { return exchange_->is_decompressed(); }
bool client_body::at_end() const noexcept { return exchange_->at_end(); }
void client_body::check_arrived() const { exchange_->check_arrived(); }
std::vector<field> client_body::trailers() const { return exchange_->response().trailers(); }

}  // namespace gyre::http
