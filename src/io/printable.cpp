// src/io/printable.cpp: decodes UTF-8, escapes characters that act on a terminal, and writes to standard error.
#include <gyre/io/line_output.hpp>
#include <gyre/io/printable.hpp>

#include <unistd.h>

#include <array>
#include <atomic>
#include <climits>
#include <cstdint>
#include <cstdio>

namespace gyre {
namespace {

// A byte or a character in its printed form. Has room for "\u202e".
class shown_character {
 public:
  explicit shown_character(std::string_view text) noexcept {
    const leading_character first = first_character(text);
    taken_ = first.size == 0 ? 1 : first.size;
    if (first.printable) {
      for (std::size_t i = 0; i < taken_; ++i) text_[size_++] = text[i];
      return;
    }
    const bool as_byte = first.code < 0x80 || first.size == 0;
    text_[size_++] = '\\';
    text_[size_++] = as_byte ? 'x' : 'u';
    for (int shift = as_byte ? 4 : 12; shift >= 0; shift -= 4)
      text_[size_++] = "0123456789abcdef"[first.code >> static_cast<unsigned>(shift) & 15U];
  }
  [[nodiscard]] std::size_t taken() const noexcept { return taken_; }
  [[nodiscard]] std::string_view text() const noexcept { return {text_.data(), size_}; }

 private:
  std::array<char, 8> text_{};
  std::size_t size_ = 0;
  std::size_t taken_ = 0;
};

// All of these have at most 16 bits.
constexpr bool acts_on_text(char32_t code) noexcept {
  const auto within = [code](char32_t first, char32_t last) { return code >= first && code <= last; };
  const bool control = code < 0x20 || within(0x7F, 0x9F);
  const bool separates_lines = code == 0x2028 || code == 0x2029;
  const bool directs =
      code == 0x061C || code == 0x200E || code == 0x200F || within(0x202A, 0x202E) || within(0x2066, 0x2069);
  return control || separates_lines || directs;
}

leading_character malformed(std::string_view text) noexcept {
  return {.size = 0, .code = static_cast<unsigned char>(text.front()), .printable = false};
}

}  // namespace

leading_character first_character(std::string_view text) noexcept {
  const auto at = [text](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned first = at(0);
  if (first < 0x80) return {.size = 1, .code = first, .printable = !acts_on_text(first)};
  if (first < 0xC2 || first > 0xF4) return malformed(text);
  const std::size_t size = first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
  if (text.size() < size) return malformed(text);
  char32_t code = first & (0x7FU >> size);
  for (std::size_t i = 1; i < size; ++i) {
    if ((at(i) & 0xC0U) != 0x80) return malformed(text);
    code = code << 6U | (at(i) & 0x3FU);
  }
  const bool overlong = (size == 3 && code < 0x800) || (size == 4 && code < 0x1'0000);
  const bool no_character = (code >= 0xD800 && code <= 0xDFFF) || code > 0x10'FFFF;
  if (overlong || no_character) return malformed(text);
  return {.size = size, .code = code, .printable = !acts_on_text(code)};
}

std::string printable(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const shown_character next(text);
    out.append(next.text());
    text.remove_prefix(next.taken());
  }
  return out;
}

namespace {

constinit std::atomic<std::uint64_t> lost_lines{0};  // of the process, not reported yet
constinit std::atomic<bool> is_torn{false};          // the last byte written did not end a line

bool write_all_of(std::string_view text) noexcept {
  while (!text.empty()) {
    const std::ptrdiff_t n = line_output::write_once(STDERR_FILENO, text);
    if (n <= 0) return false;
    is_torn = text[static_cast<std::size_t>(n) - 1] != '\n';
    text.remove_prefix(static_cast<std::size_t>(n));
  }
  return true;
}

// Returns false when standard error still accepts nothing.
bool report_lost_lines() noexcept {
  const std::uint64_t count = lost_lines.exchange(0);
  if (count == 0) return true;
  char text[80];
  const int size =
      std::snprintf(text, sizeof(text), "%sgyre: %llu message%s on standard error %s lost\n", is_torn ? "\n" : "",
                    static_cast<unsigned long long>(count), count == 1 ? "" : "s", count == 1 ? "was" : "were");
  if (write_all_of({text, static_cast<std::size_t>(size)})) return true;
  lost_lines += count;
  return false;
}

// A line of a diagnostic, in pieces that a pipe takes as a whole.
class diagnostic_line {
 public:
  void append(std::string_view text) noexcept {
    if (line_.size() - size_ < text.size()) write();
    size_ += text.copy(line_.data() + size_, text.size());
  }
  void write() noexcept {
    accepted_ = accepted_ && write_all_of({line_.data(), size_});
    size_ = 0;
  }
  void end() noexcept {
    append("\n");
    write();
    if (!accepted_) ++lost_lines;
  }

 private:
  std::array<char, PIPE_BUF> line_;
  std::size_t size_ = 0;
  bool accepted_ = report_lost_lines();
};

}  // namespace

void print_diagnostic(std::initializer_list<std::string_view> parts) noexcept {
  diagnostic_line line;
  for (std::string_view each : parts) {
    while (!each.empty()) {
      const shown_character next(each);
      line.append(next.text());
      each.remove_prefix(next.taken());
    }
  }
  line.end();
}

bool write_diagnostic(std::string_view lines) noexcept {
  if (report_lost_lines() && write_all_of(lines)) return true;
  ++lost_lines;
  return false;
}

}  // namespace gyre
