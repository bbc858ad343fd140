// programs/resp_server/glob.hpp: the patterns of KEYS and CONFIG GET.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace resp {

enum class letter_case : std::uint8_t { matters, ignored };

/// A pattern that is compiled once: `*`, `?`, `[abc]`, `[^a-z]`, `\c`, with the meaning that Redis gives them.
///
/// Follows all positions of the pattern that a text may have reached at once, as the bits of a set. So matching reads
/// each byte of the text once and takes words() steps for it, whatever the pattern.
class glob_pattern {
 public:
  /// The longest pattern that can be compiled. Callers refuse longer ones.
  static constexpr std::size_t max_bytes = 1024;

  /// The positions in the pattern reached by the part of a text that was read so far.
  class progress {
   public:
    [[nodiscard]] std::size_t bytes_read() const noexcept { return read_; }

   private:
    friend class glob_pattern;
    std::array<std::uint64_t, max_bytes / 64 + 1> reached_{1};
    std::size_t read_ = 0;
  };
  enum class verdict : std::uint8_t { matches, differs, unknown };

  explicit glob_pattern(std::string_view pattern, letter_case letters = letter_case::matters);

  /// True when the whole text matches.
  [[nodiscard]] bool matches(std::string_view text) const noexcept;

  /// Reads at most `budget` bytes of the text, from where the previous call stopped.
  /// Returns `unknown` when there are more.
  [[nodiscard]] verdict read(progress& state, std::string_view text, std::size_t budget) const noexcept;

  /// The number of machine words processed per byte of a text.
  [[nodiscard]] std::size_t words() const noexcept { return loops_.size(); }

 private:
  void compile(std::string_view pattern, std::size_t at, std::size_t position, letter_case letters);
  [[nodiscard]] bool step(std::uint64_t* reached, char c) const noexcept;
  [[nodiscard]] bool has(const std::uint64_t* set, std::size_t position) const noexcept;

  std::size_t elements_ = 0;             // the parts that match one byte each: all but the stars
  std::vector<std::uint64_t> loops_;     // positions after a star: any byte leaves them reached
  std::vector<std::uint64_t> anything_;  // elements that accept every byte
  std::vector<std::uint64_t> passes_;    // for each byte the elements that accept it, in words() words
};

}  // namespace resp
