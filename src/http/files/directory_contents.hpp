// src/http/files/directory_contents.hpp: the contents of a directory, as found by one reading of it.
#pragma once

#include <gyre/http/http_date.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace gyre::http {

enum class listing_order : std::uint8_t { name, size, time };

/// At most 20,000 names, found among the first 100,000 of the directory; they take some 6 MB. Directories
/// come before files in every order.
class directory_contents {
 public:
  static constexpr std::size_t max_entries = 20'000;
  static constexpr std::size_t max_looked_at = 100'000;

  struct entry {
    std::uint64_t size = 0;
    unix_seconds modified = 0;
    std::uint32_t name_begin = 0;
    std::uint16_t name_size = 0;
    bool directory = false;
    friend bool operator==(const entry&, const entry&) noexcept = default;
  };

  /// Reads `directory`, which is at `path` below `root`. A link is shown as its target if that is inside the tree. May
  /// take long, so call it on a thread. Errors: io_error.
  directory_contents(int root, int directory, const std::string& path, bool hidden);

  [[nodiscard]] std::size_t size() const noexcept { return entries_.size(); }
  [[nodiscard]] const entry& at(std::size_t position, listing_order order, bool descending) const noexcept;
  [[nodiscard]] std::string_view name_of(const entry& one) const noexcept {
    return std::string_view(names_).substr(one.name_begin, one.name_size);
  }
  /// True if there are more names than these.
  [[nodiscard]] bool more() const noexcept { return more_; }
  /// Memory in use, in bytes.
  [[nodiscard]] std::size_t memory() const noexcept;

  friend bool operator==(const directory_contents&, const directory_contents&) noexcept = default;

 private:
  void read(int root, int directory, const std::string& path, bool hidden);
  void sort();

  std::string names_;
  std::vector<entry> entries_;                    // by name
  std::array<std::vector<std::uint32_t>, 2> by_;  // positions in `entries_`, by size and by time
  std::size_t directories_ = 0;                   // the number of directories; they are the first entries
  bool more_ = false;
};

}  // namespace gyre::http
