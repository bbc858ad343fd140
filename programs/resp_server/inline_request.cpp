// programs/resp_server/inline_request.cpp: splits a typed command line into its arguments.
#include "programs/resp_server/inline_request.hpp"

#include <cstddef>

namespace resp {
namespace {

constexpr bool is_space(char c) noexcept { return c == ' ' || (c >= '\t' && c <= '\r'); }

// The characters that end an argument outside quotes: unlike is_space without \v and \f, as in Redis.
constexpr bool ends_word(char c) noexcept { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }

constexpr int hex_value(char c) noexcept {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

constexpr char escaped(char c) noexcept {
  switch (c) {
    case 'n':
      return '\n';
    case 'r':
      return '\r';
    case 't':
      return '\t';
    case 'b':
      return '\b';
    case 'a':
      return '\a';
    default:
      return c;
  }
}

class line_splitter {
 public:
  line_splitter(std::string_view line, std::string& out) noexcept : line_(line), out_(out) {}

  // Unquotes one argument, appending it to `out`.
  bool read_quoted_word() {
    while (at_ < line_.size() && !ends_word(line_[at_])) {
      const char c = line_[at_++];
      if (c == '"') return read_double_quotes();
      if (c == '\'') return read_single_quotes();
      out_.push_back(c);
    }
    return true;
  }

  void skip_spaces() noexcept {
    while (at_ < line_.size() && is_space(line_[at_])) ++at_;
  }

  // Returns a word without quotes, as a view. Reads nothing and returns an empty view when the word has quotes.
  std::string_view try_plain_word() noexcept {
    std::size_t end = at_;
    while (end < line_.size() && !ends_word(line_[end])) {
      if (line_[end] == '"' || line_[end] == '\'') return {};
      ++end;
    }
    const std::string_view word = line_.substr(at_, end - at_);
    at_ = end;
    return word;
  }

  bool at_end() const noexcept { return at_ == line_.size(); }

 private:
  bool closed_properly() const noexcept { return at_end() || is_space(line_[at_]); }

  bool read_double_quotes() {
    while (!at_end()) {
      const char c = line_[at_++];
      if (c == '"') return closed_properly();
      if (c != '\\' || at_end()) {
        out_.push_back(c);
      } else if (line_[at_] == 'x' && line_.size() - at_ >= 3 && hex_value(line_[at_ + 1]) >= 0 &&
                 hex_value(line_[at_ + 2]) >= 0) {
        out_.push_back(static_cast<char>(hex_value(line_[at_ + 1]) * 16 + hex_value(line_[at_ + 2])));
        at_ += 3;
      } else {
        out_.push_back(escaped(line_[at_++]));
      }
    }
    return false;
  }

  bool read_single_quotes() {
    while (!at_end()) {
      char c = line_[at_++];
      if (c == '\'') return closed_properly();
      if (c == '\\' && !at_end() && line_[at_] == '\'') c = line_[at_++];
      out_.push_back(c);
    }
    return false;
  }

  std::string_view line_;
  std::string& out_;
  std::size_t at_ = 0;
};

}  // namespace

bool split_inline_request(std::string_view line, std::string& unquoted, std::vector<std::string_view>& arguments) {
  line = line.substr(0, line.find('\0'));
  unquoted.clear();
  unquoted.reserve(line.size());  // never grows again, so views into it stay valid
  line_splitter splitter(line, unquoted);
  for (;;) {
    splitter.skip_spaces();
    if (splitter.at_end()) return true;
    if (const std::string_view word = splitter.try_plain_word(); !word.empty()) {
      arguments.push_back(word);
      continue;
    }
    const std::size_t begin = unquoted.size();
    if (!splitter.read_quoted_word()) return false;
    arguments.push_back(std::string_view(unquoted).substr(begin));
  }
}

}  // namespace resp
