// src/http/transport/secure_transport.cpp: encrypts and decrypts between a connection and its socket.
#include <gyre/coro/scope_exit.hpp>
#include <gyre/io/file_bytes.hpp>
#include <gyre/loop/as_expected.hpp>
#include <gyre/loop/readiness.hpp>
#include <gyre/net/kernel_encryption.hpp>
#include <gyre/tasks/as_expected.hpp>
#include <gyre/tasks/timeout.hpp>
#include <gyre/tasks/to_thread.hpp>

#include "secure_transport.hpp"

#include <algorithm>
#include <cerrno>
#include <span>
#include <utility>

namespace gyre::http {
namespace {

constexpr std::size_t max_gathered = std::size_t{16} << 10U;   // of the heads of requests
constexpr std::size_t max_encrypted = std::size_t{64} << 10U;  // at once, before it is sent
constexpr std::size_t large_file = std::size_t{1} << 20U;      // worth to move the encryption to the kernel

std::span<const std::byte> bytes_of(std::string_view text) { return std::as_bytes(std::span(text)); }

std::error_code broken_session() noexcept { return std::make_error_code(std::errc::protocol_error); }

}  // namespace

secure_session::progress secure_transport::decrypt(std::span<std::byte> to) {
  if (!session_) session_ = shared_.options.encryption->begin();
  if (unsent_.empty()) shared_.ciphers.lend(unsent_);
  const secure_session::progress made = session_->decrypt(input_, input_ended_, to, unsent_);
  if (made.what == secure_session::state::failed) fail(broken_session());
  return made;
}

bool secure_transport::encrypt(std::string_view bytes) {
  if (!error_ && (!session_ || session_->in_handshake())) fail(std::make_error_code(std::errc::not_connected));
  if (error_) return false;
  if (unsent_.empty()) shared_.ciphers.lend(unsent_);
  if (!session_->encrypt(bytes_of(bytes), unsent_)) fail(broken_session());
  return !error_;
}

void secure_transport::keep_buffer() noexcept {
  if (unsent_.empty()) shared_.ciphers.give_back(unsent_);
}

// Returns false when the connection is broken, and notes why.
bool secure_transport::push(bool more) noexcept {
  if (unsent_.empty()) return true;
  const std::ptrdiff_t sent = stream_.socket().write_now(unsent_, more);
  if (sent < 0) {
    fail({static_cast<int>(-sent), std::generic_category()});
    return false;
  }
  unsent_.erase(0, static_cast<std::size_t>(sent));
  return true;
}

secure_transport::arrival secure_transport::arrived(buffer_lease received) {
  if (!received.empty()) input_ = std::move(received);
  const std::span<std::byte> plain = shared_.ciphers.plain().first(max_gathered);
  const secure_session::progress made = decrypt(plain);
  if (input_.empty()) input_.release();
  // Tickets and answers to a KeyUpdate leave with the response.
  const bool is_urgent = made.what != secure_session::state::bytes;
  if (is_urgent) (void)push(false);
  keep_buffer();
  if (error_ || made.what == secure_session::state::ended) return arrival::ended;
  if (made.what != secure_session::state::bytes) return arrival::nothing;
  decrypted_ = {reinterpret_cast<const char*>(plain.data()), made.count};
  return arrival::bytes;
}

bool secure_transport::has_buffered() const noexcept {
  return !input_.empty() || (session_ && session_->has_decrypted());
}

void secure_transport::say_goodbye() noexcept {
  if (!session_ || cut_off_ || error_ || holds_byte_) return;
  session_->finish(unsent_);
  (void)push(false);
  if (in_kernel_ && unsent_.empty()) (void)gyre::say_goodbye_in_kernel(stream_.native_descriptor());
}

void secure_transport::give_back_piece() noexcept { shared_.ciphers.give_back_plain(std::move(piece_)); }

// While it waits, it holds no buffer.
task<std::error_code> secure_transport::receive(buffer_lease& into, std::chrono::nanoseconds limit) {
  give_back_piece();
  receiving_.begin(limit);  // for all that this waits for: pieces of a record do not extend it
  struct ending {
    receive_deadline& deadline;
    explicit ending(receive_deadline& d) noexcept : deadline(d) {}
    ending& operator=(ending&&) = delete;
    ~ending() { deadline.end(); }
  } const at_end(receiving_);
  for (;;) {
    if (error_) co_return error_;
    if (has_buffered() || input_ended_) {
      const bool large = input_.size() > cipher_buffers::small_plain_size;
      piece_ = shared_.ciphers.take_plain(large);
      const secure_session::progress made = decrypt(piece_.bytes());
      (void)push(false);
      keep_buffer();
      if (made.what == secure_session::state::bytes) {
        into = buffer_lease(nullptr, piece_.bytes().first(made.count));
        co_return std::error_code();
      }
      give_back_piece();
      if (made.what == secure_session::state::ended) co_return make_error_code(stream_errc::end_of_stream);
      if (input_ended_) fail(std::make_error_code(std::errc::connection_aborted));  // the end of the session is missing
      if (error_) co_return error_;
    }
    if (has_unsent()) {
      const bool flushed = co_await flush();
      if (!flushed) co_return error_;
    }
    input_.release();
    auto received = co_await as_expected(stream_.receive());
    if (!received) co_return receiving_.expired() ? time_limit_passed() : received.error();
    input_ = *std::move(received);
    input_ended_ = input_.empty();
  }
}

// Returns false when the connection is broken.
task<bool> secure_transport::flush() {
  while (!unsent_.empty()) {
    std::string leaving = std::exchange(unsent_, {});
    std::error_code outcome = std::make_error_code(std::errc::operation_canceled);
    const scope_exit at_end([&] {  // a cancel takes `leaving` away
      if (outcome) fail(outcome);
    });
    const auto sent = co_await as_expected(stream_.write_all(bytes_of(leaving)));
    outcome = sent ? std::error_code() : sent.error();
    if (outcome) co_return false;
    leaving.clear();
    shared_.ciphers.give_back(leaving);
  }
  co_return true;
}

std::string_view secure_transport::without_held(std::string_view bytes) noexcept {
  if (bytes.empty() || !std::exchange(holds_byte_, false)) return bytes;
  return bytes.substr(1);
}

std::error_code secure_transport::outcome_of(bool written, const send_deadline& waiting) const noexcept {
  if (written) return {};
  return waiting.expired() ? time_limit_passed() : error_;
}

task<std::error_code> secure_transport::write(std::string_view first, std::string_view second,
                                              std::chrono::nanoseconds limit) {
  const send_deadline waiting(stream_, limit, taken_within_limit, taken_);
  for (std::string_view rest : {without_held(first), without_held(second)}) {
    while (!rest.empty()) {
      const std::string_view piece = rest.substr(0, max_encrypted);
      rest.remove_prefix(piece.size());
      if (!encrypt(piece)) co_return error_;
      if (unsent_.size() < max_encrypted) continue;
      const bool flushed = co_await flush();
      if (!flushed) co_return outcome_of(false, waiting);
    }
  }
  const bool flushed = co_await flush();
  co_return outcome_of(flushed, waiting);
}

std::ptrdiff_t secure_transport::write_now(std::string_view bytes, write_hint hint) noexcept {
  if (hint == write_hint::waits_for_rest && stream_.socket().submits_writes()) return 0;
  const bool more = hint == write_hint::more_follows;
  const auto failure = [this] { return -static_cast<std::ptrdiff_t>(error_.value()); };
  if (error_ || (holds_byte_ && !push(more))) return failure();
  if ((holds_byte_ && !unsent_.empty()) || bytes.empty()) return 0;
  const std::string_view fresh = without_held(bytes.substr(0, max_encrypted));
  std::size_t taken = std::min(bytes.size(), max_encrypted);
  try {
    if (!fresh.empty() && !encrypt(fresh)) return failure();
  } catch (...) {  // no memory, perhaps in the middle of a record
    fail(std::make_error_code(std::errc::not_enough_memory));
    return failure();
  }
  if (!push(more)) return failure();
  if (!unsent_.empty()) {
    holds_byte_ = true;
    --taken;
  }
  keep_buffer();
  return static_cast<std::ptrdiff_t>(taken);
}

task<send_file_result> secure_transport::send_file(int file, std::uint64_t offset, std::size_t count,
                                                   std::chrono::nanoseconds limit) {
  const send_deadline waiting(stream_, limit, taken_within_limit, taken_);
  send_file_result result;
  if (!in_kernel_) result = co_await encrypt_file(file, offset, count, waiting);
  const bool complete = result.sent == count || result.outcome;
  if (!in_kernel_ || complete) co_return result;
  const auto sent = co_await as_expected(stream_.send_file(file, offset + result.sent, count - result.sent));
  const std::size_t before = result.sent;
  result = result_of_file(sent, waiting.expired());
  result.sent += before;
  co_return result;
}

// Ends early when the kernel has taken over the encryption.
task<send_file_result> secure_transport::encrypt_file(int file, std::uint64_t offset, std::size_t count,
                                                      const send_deadline& waiting) {
  send_file_result result;
  std::string from_disk;
  while (result.sent < count && !in_kernel_) {
    const std::size_t max_count = std::min(count - result.sent, max_encrypted);
    const std::uint64_t at = offset + result.sent;
    std::span<std::byte> plain = shared_.ciphers.plain().first(max_count);
    std::ptrdiff_t size = io::read_cached(file, plain.data(), max_count, at);
    if (size <= 0) {
      from_disk.resize(max_count);
      auto read = [file, &from_disk, at] { return io::read_at(file, from_disk.data(), from_disk.size(), at); };
      size = co_await to_thread(io::blocking_pool::for_files(), read);
      plain = std::as_writable_bytes(std::span(from_disk));
    }
    if (size == 0) break;
    if (size < 0) {
      result.outcome = result.file_error = std::error_code(static_cast<int>(-size), std::generic_category());
      break;
    }
    const std::string_view piece(reinterpret_cast<const char*>(plain.data()), static_cast<std::size_t>(size));
    const std::size_t earlier = unsent_.size();
    bool sent = encrypt(piece);
    const bool can_move = sent && result.sent == 0 && count >= large_file &&
                          session_->prepare_kernel(std::string_view(unsent_).substr(earlier));
    if (sent) sent = co_await flush();
    result.outcome = outcome_of(sent, waiting);
    if (!sent) break;
    result.sent += piece.size();
    in_kernel_ = can_move && unsent_.empty() && session_->move_to_kernel(stream_.native_descriptor());
  }
  co_return result;
}

// The kernel may hold back a part of a record after it has accepted all bytes. That part leaves when the socket has
// room, which has to be before the end of the connection. Returns false when the client takes nothing within the limit.
task<bool> secure_transport::say_goodbye_in_kernel(std::chrono::nanoseconds limit) {
  const int socket = stream_.native_descriptor();
  const auto room = [socket]() -> task<> { co_await writable(socket); };
  std::uint64_t taken = 0;
  for (;;) {
    (void)stream_.socket().taken_since(taken);
    auto has_room = timeout(limit, room());
    const auto in_time = co_await as_expected(std::move(has_room));
    if (!in_time && stream_.socket().taken_since(taken) < taken_within_limit) co_return false;
    if (!in_time) continue;
    const int error = gyre::say_goodbye_in_kernel(socket);
    if (error != EAGAIN) co_return error == 0;
  }
}

task<> secure_transport::shutdown_write() {
  const bool in_order = session_ && !cut_off_ && !error_;
  if (in_order) session_->finish(unsent_);
  const std::chrono::nanoseconds limit = shared_.options.timeouts.write;
  bool sent = false;
  {
    const send_deadline waiting(stream_, limit, taken_within_limit, taken_);
    sent = co_await flush();
  }
  if (sent && in_order && in_kernel_) sent = co_await say_goodbye_in_kernel(limit);
  if (!sent) reset_at_end();
  (void)co_await as_expected(stream_.shutdown_write());
}

}  // namespace gyre::http
