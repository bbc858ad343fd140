// src/client/decoded_body.cpp: decodes piece by piece, and stops at what expands too much.
#include "decoded_body.hpp"

#include <utility>

namespace gyre::http {
namespace {

constexpr std::size_t decoded_at_once = std::size_t{64} << 10U;
constexpr std::string_view content_encoding = "Content-Encoding";

// The only coding of a body, or empty. "identity" is none: RFC 9110 §8.4.1, §12.5.3.
std::string_view only_coding(std::span<const field> fields) {
  std::string_view only;
  for (const field& each : fields) {
    if (each.name.size() != content_encoding.size() || !equal_ignoring_case(each.name, content_encoding)) continue;
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

void decoded_body::begin(std::span<const field> fields) {
  end();
  decoded_ = encoded_ = {};
  produced_ = 0;
  at_end_ = false;
  const std::string_view coding = only_coding(fields);
  if (coding.empty()) return;
  decoder_ = make_decoder(coding);
  if (decoder_ && memory_ == nullptr) memory_ = std::make_unique<char[]>(decoded_at_once);
}

std::string_view decoded_body::take(std::size_t max, std::uint64_t received) {
  while (decoded_.empty() && !at_end_ && !failed_) {
    const auto step = decoder_->decode(encoded_, {memory_.get(), decoded_at_once});
    if (step.failed) {
      fail(client_errc::bad_coding);
    } else if (step.produced > 0) {
      produced_ += step.produced;
      decoded_ = {memory_.get(), step.produced};
      constexpr std::uint64_t unsuspicious = std::uint64_t{1} << 20U;
      const bool expands = produced_ > unsuspicious && produced_ / limits_.expansion > received;
      if (produced_ > limits_.decompressed || expands)
        fail(client_errc::decompression_limit, std::to_string(produced_) + " bytes, from " + std::to_string(received));
    } else if (encoded_.empty()) {  // otherwise a further stream begins
      break;
    }
  }
  if (failed_) return {};
  const std::string_view piece = decoded_.substr(0, max);
  decoded_.remove_prefix(piece.size());
  return piece;
}

void decoded_body::feed(std::string_view encoded, std::uint64_t received) {
  encoded_ = encoded;
  if (!encoded.empty()) return;
  if (!decoder_->complete() && received > 0)
    fail(client_errc::bad_coding, "it is cut off");
  else
    at_end_ = true;
}

decoded_body::failure decoded_body::take_failure() {
  // NOLINTNEXTLINE(bugprone-unchecked-optional-access): has_failed()
  return std::exchange(*failed_, failure{client_errc::bad_coding, {}});
}

}  // namespace gyre::http
