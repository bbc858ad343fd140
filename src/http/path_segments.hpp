// src/http/path_segments.hpp: the segments of a request's path, each split off and decoded once.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <deque>
#include <memory>
#include <string>
#include <string_view>

namespace gyre::http {

/// A search for a route goes back and forth between alternatives; this remembers what it has seen of the path. Nothing is
/// allocated for up to 16 segments without percent signs.
class path_segments {
 public:
  /// Plain members, without a constructor: 16 of these are not to be cleared for each request.
  struct segment {
    const char* sent;
    std::size_t sent_size;
    const char* decoded;  // null when it is encoded wrongly
    std::size_t decoded_size;
    std::size_t end;  // in the path, where the next one begins with its slash
  };

  /// `path` is empty or begins with a slash. Lifetime: refers to it.
  explicit path_segments(std::string_view path) noexcept : path_(path) {}  // NOLINT(*-member-init): `first_`

  [[nodiscard]] std::string_view path() const noexcept { return path_; }

  /// Segment `index`, whose slash is at `begin`. The segments before it have been asked for. Lifetime: as long as this.
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
  /// For tests: how many were split off, and the size of what was decoded.
  [[nodiscard]] std::size_t count() const noexcept { return count_; }
  [[nodiscard]] std::size_t decoded_size() const noexcept { return more_ ? more_->decoded.size() : 0; }

 private:
  struct allocated {
    std::deque<segment> segments;  // which stay where they are
    std::string decoded;           // of all segments that have percent signs
  };

  segment& add_more();
  void decode(segment& one);

  std::string_view path_;
  std::size_t count_ = 0;
  std::array<segment, 16> first_;
  std::unique_ptr<allocated> more_;
};

}  // namespace gyre::http
