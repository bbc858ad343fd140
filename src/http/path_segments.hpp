// src/http/path_segments.hpp: the segments of a request's path, each split off and decoded once.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

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
    std::size_t end;  // in the path
  };

  /// `path` is empty or begins with a slash. Lifetime: refers to it.
  explicit path_segments(std::string_view path) noexcept : path_(path) {}  // NOLINT(*-member-init): `first_`, as said

  /// The number of bytes before segment `index`, whose predecessor has been asked for.
  [[nodiscard]] std::size_t begin_of(std::size_t index) const noexcept { return index == 0 ? 0 : at(index - 1).end; }
  [[nodiscard]] bool ends_before(std::size_t index) const noexcept { return begin_of(index) == path_.size(); }
  /// The path from the slash before segment `index` on.
  [[nodiscard]] std::string_view from(std::size_t index) const noexcept { return path_.substr(begin_of(index)); }

  /// Segment `index`, which exists. Its predecessor has been asked for.
  const segment& get(std::size_t index) {
    if (index == count_) split();
    return at(index);
  }
  /// For tests: how many were split off, and the size of what was decoded.
  [[nodiscard]] std::size_t count() const noexcept { return count_; }
  [[nodiscard]] std::size_t decoded_size() const noexcept { return decoded_.size(); }

 private:
  [[nodiscard]] const segment& at(std::size_t index) const noexcept {
    return index < first_.size() ? first_[index] : more_[index - first_.size()];
  }
  void split();
  void decode(segment& one);

  std::string_view path_;
  std::size_t count_ = 0;
  std::array<segment, 16> first_;
  std::vector<segment> more_;
  std::string decoded_;  // of all segments that have percent signs
};

}  // namespace gyre::http
