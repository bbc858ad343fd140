// src/client/decoded_body.cpp: reads a compressed body, with limits: a few bytes may expand to gigabytes.
#include "client_exchange.hpp"
#include "content_decoder.hpp"

#include <algorithm>

namespace gyre::http {
namespace {

constexpr std::size_t decoded_at_once = std::size_t{64} << 10U;

// The only coding of a body, or empty. "identity" is none: RFC 9110 §8.4.1, §12.5.3.
std::string_view only_coding(std::span<const field> fields) {
  std::string_view only;
  for (const field& each : fields) {
    if (!equal_ignoring_case(each.name, "Content-Encoding")) continue;
    std::string_view rest = each.value;
    for (auto coding = next_in_list(rest); !coding.empty(); coding = next_in_list(rest)) {
      if (equal_ignoring_case(coding, "identity")) continue;
      if (!only.empty()) return {};
      only = coding;
    }
  }
  return only;
}

}  // namespace

client_exchange::~client_exchange() = default;

// Only a response to a request in which the client itself has asked for codings. Another coding is the program's, and
// so are several codings, in one field or in more.
void client_exchange::choose_decoder() {
  decoder_.reset();
  decoded_ = {};
  decoded_bytes_ = 0;
  encoded_ = {};
  decoded_end_ = decoder_broken_ = false;
  if (!asked_for_codings() || input_.framing().body == body_kind::none) return;
  decoder_ = make_decoder(only_coding(input_.head().fields()));
  if (decoder_ && decoded_memory_ == nullptr) decoded_memory_ = std::make_unique<char[]>(decoded_at_once);
}

bool client_exchange::asked_for_codings() const noexcept {
  return state_.options().decompress && !request.has_accept_encoding && !request.has_range;
}

void client_exchange::check_decoded(std::size_t more) {
  const client_limits& limits = state_.options().limits;
  decoded_bytes_ += more;
  constexpr std::uint64_t unsuspicious = std::uint64_t{1} << 20U;
  const bool expands = decoded_bytes_ > unsuspicious && decoded_bytes_ / limits.expansion > input_.received();
  if (decoded_bytes_ <= limits.decompressed && !expands) return;
  give_up_connection();
  decoder_broken_ = true;
  fail(client_errc::decompression_limit,
       std::to_string(decoded_bytes_) + " bytes, from " + std::to_string(input_.received()));
}

task<std::string_view> client_exchange::receive_decoded(std::size_t most) {
  check_loop("receive");
  for (;;) {
    if (decoder_broken_) fail(client_errc::bad_coding);
    if (!decoded_.empty()) {
      const std::string_view piece = decoded_.substr(0, most);
      decoded_.remove_prefix(piece.size());
      co_return piece;
    }
    if (decoded_end_) co_return std::string_view();
    const auto step = decoder_->decode(encoded_, {decoded_memory_.get(), decoded_at_once});
    if (step.failed) {
      decoder_broken_ = true;
      give_up_connection();
      continue;
    }
    if (step.produced > 0) {
      check_decoded(step.produced);
      decoded_ = {decoded_memory_.get(), step.produced};
      continue;
    }
    if (!encoded_.empty()) continue;  // a further stream begins
    encoded_ = co_await receive_raw(~std::size_t{0});
    if (!encoded_.empty()) continue;
    if (!decoder_->complete() && input_.received() > 0) {
      decoder_broken_ = true;
      fail(client_errc::bad_coding, "it is cut off");
    }
    decoded_end_ = true;
  }
}

}  // namespace gyre::http
