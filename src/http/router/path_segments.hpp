// src/http/router/path_segments.hpp: the segments of a request's path, each split and decoded once.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <deque>
#include <memory>
#include <string>
#include <string_view>

namespace gyre::http {

/// The search for a route backtracks between alternatives, so this keeps the segments that it has split off. Up to 16
/// segments without percent signs need no allocation.
class path_segments {
 public:
  /// Plain members without a constructor, so that a request does not have to clear 16 of these.
  struct segment {
    const char* sent;
    std::size_t sent_size;
    const char* decoded;  // null when the encoding is invalid
    std::size_t decoded_size;
    std::size_t end;  // in the path: the position of the next segment's slash
  };

  /// `path` is empty or begins with a slash. Lifetime: must outlive this object.
  explicit path_segments(std::string_view path) noexcept : path_(path) {}  // NOLINT(*-member-init): `first_`

  [[nodiscard]] std::string_view path() const noexcept { return path_; }

  /// Returns segment `index`, whose slash is at `begin`. All earlier segments must have been requested before.
  /// Lifetime: valid as long as this object.
  const segment& get(std::size_t index, std::size_t begin) {
    if (index < count_) return index < first_.size() ? first_[index] : more_->segments[index - first_.size()];
    ++count_;
    segment& one = index < first_.size() ? first_[index] : add_more();
    const std::size_t end = std::min(path_.find('/', begin + 1), path_.size());
    one.sent = one.decoded = path_.data() + begin + 1;
    one.sent_size = one.decoded_size = end - begin - 1;
    one.end = end;
    if (std::string_view(one.sent, one.sent_size).find('%') != std::string_view::npos) decode(one);
    return one;
  }
  /// For tests: the number of segments split off, and the size of decoded text.
  [[nodiscard]] std::size_t count() const noexcept { return count_; }
  [[nodiscard]] std::size_t decoded_size() const noexcept { return more_ ? more_->decoded.size() : 0; }

 private:
  struct allocated {
    std::deque<segment> segments;  // a deque, so that segments never move
    std::string decoded;           // the text of all segments with percent signs
  };

  segment& add_more();
  void decode(segment& one);

  std::string_view path_;
  std::size_t count_ = 0;
  std::array<segment, 16> first_;
  std::unique_ptr<allocated> more_;
};

}  // namespace gyre::http
