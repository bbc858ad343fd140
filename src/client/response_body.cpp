// src/client/response_body.cpp: the body of a response, as it was sent or decoded.
#include <gyre/coro/scope_exit.hpp>
#include <gyre/io/io_error.hpp>
#include <gyre/loop/as_expected.hpp>
#include <gyre/net/bulk.hpp>

#include "client_exchange.hpp"

#include <expected>
#include <utility>

namespace gyre::http {

std::optional<std::uint64_t> client_exchange::length() const noexcept {
  return decoded_ ? std::nullopt : channel_.length();
}

void client_exchange::check_arrived() const {
  const parse_error error = channel_.look_ahead();
  if (error != parse_error::none) fail(client_errc::bad_response, describe(error));
}

task<std::string_view> client_exchange::receive_raw(std::size_t max) {
  check_loop("receive");
  for (;;) {
    const std::string_view piece = channel_.take(max);
    if (channel_.body_error() != parse_error::none) {
      if (sends_) co_await end_sending();
      give_up_connection();
      fail(client_errc::bad_response, describe(channel_.body_error()));
    }
    if (channel_.at_end()) finish_connection();
    if (!piece.empty() || (channel_.at_end() && !sends_)) co_return piece;
    if (!is_connected()) fail(client_errc::cut_off);
    if (channel_.at_end()) {
      co_await finish_sending();
      continue;
    }
    std::error_code failure;
    {
      const scope_exit stop_clock([this]() noexcept { clock_.end(); });  // also after a cancel, which loses nothing
      if (sends_) {
        clock_.begin_unlimited(phase::body);  // the limit between bytes is that of both directions, and no interrupt
        failure = co_await receive_while_sending();
      } else {
        clock_.begin(phase::body, state_.options().timeouts.between_bytes);
        if (clock_.expired())
          failure = time_limit_passed();
        else
          failure = co_await channel_.receive_more();
      }
    }
    if (!failure || (failure == stream_errc::end_of_stream && channel_.end_of_stream())) continue;
    if (sends_) co_await end_sending();
    give_up_connection();
    if (send_failure_) std::rethrow_exception(std::exchange(send_failure_, nullptr));
    fail(failure);
  }
}

// The last piece stays in `bulk`, while the connection may serve others.
task<std::size_t> client_exchange::receive_bulk(socket_bulk& bulk) {
  channel_.release_buffer();
  std::expected<std::size_t, std::error_code> size;
  {
    const scope_exit stop_clock([this]() noexcept { clock_.end(); });  // also after a cancel, which loses nothing
    clock_.begin(phase::body, state_.options().timeouts.between_bytes);
    if (clock_.expired())
      size = std::unexpected(time_limit_passed());
    else
      size = co_await as_expected(bulk.receive(channel_.left()));
  }
  if (!size) {
    give_up_connection();
    fail(size.error());
  }
  channel_.bypass(*size);
  if (channel_.at_end()) finish_connection();
  co_return *size;
}

task<std::string_view> client_exchange::receive_decoded(std::size_t max) {
  check_loop("receive");
  for (;;) {
    const std::string_view piece = decoded_.take(max, channel_.received());
    if (decoded_.has_failed()) {
      give_up_connection();
      const decoded_body::failure failure = decoded_.take_failure();
      fail(failure.reason, failure.detail);
    }
    if (!piece.empty() || decoded_.at_end()) co_return piece;
    const std::string_view encoded = co_await receive_raw(~std::size_t{0});
    decoded_.feed(encoded, channel_.received());
  }
}

}  // namespace gyre::http
