// src/http/semantics/parameters.cpp: parameters whose values are tokens or quoted strings.
#include "parameters.hpp"

#include <gyre/http/field.hpp>

#include "characters.hpp"

#include <cstddef>

namespace gyre::http {
namespace {

void skip_spaces(std::string_view& text) noexcept {
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
}

// The size in bytes of the token at the front.
std::size_t token_size(std::string_view text) noexcept {
  std::size_t size = 0;
  while (size < text.size() && is_token_character(text[size])) ++size;
  return size;
}

// The size in bytes of the quoted string at the front, or 0 when it is malformed or does not end. RFC 9110 §5.6.4.
std::size_t quoted_size(std::string_view text) noexcept {
  for (std::size_t i = 1; i < text.size(); ++i) {
    if (text[i] == '"') return i + 1;
    if (text[i] == '\\') ++i;
    if (i == text.size() || !is_value_character(text[i])) return 0;
  }
  return 0;
}

// Returns the characters of a value one by one, without quotes and backslashes.
class value_reader {
 public:
  explicit value_reader(std::string_view value) noexcept : rest_(value), quoted_(value.starts_with('"')) {
    if (!quoted_) return;
    rest_.remove_prefix(1);
    rest_.remove_suffix(1);
  }
  [[nodiscard]] bool at_end() const noexcept { return rest_.empty(); }
  char take() noexcept {
    if (quoted_ && rest_.front() == '\\') rest_.remove_prefix(1);
    const char c = rest_.front();
    rest_.remove_prefix(1);
    return c;
  }

 private:
  std::string_view rest_;
  bool quoted_;
};

}  // namespace

parameter_step next_parameter(std::string_view& rest, parameter_text& out) noexcept {
  for (;;) {
    skip_spaces(rest);
    if (rest.empty()) return parameter_step::end;
    if (rest.front() != ';') return parameter_step::malformed;
    rest.remove_prefix(1);
    skip_spaces(rest);
    if (!rest.empty() && rest.front() != ';') break;
  }
  const std::size_t name = token_size(rest);
  if (name == 0 || name == rest.size() || rest[name] != '=') return parameter_step::malformed;
  out.name = rest.substr(0, name);
  rest.remove_prefix(name + 1);
  const std::size_t value = rest.starts_with('"') ? quoted_size(rest) : token_size(rest);
  if (value == 0) return parameter_step::malformed;
  out.value = rest.substr(0, value);
  rest.remove_prefix(value);
  return parameter_step::found;
}

std::string unquote(std::string_view value) {
  std::string text;
  text.reserve(value.size());
  for (value_reader in(value); !in.at_end();) text += in.take();
  return text;
}

bool same_meaning(std::string_view a, std::string_view b) noexcept {
  value_reader left(a);
  value_reader right(b);
  while (!left.at_end() && !right.at_end()) {
    const char one = left.take();
    const char other = right.take();
    if (!equal_ignoring_case({&one, 1}, {&other, 1})) return false;
  }
  return left.at_end() && right.at_end();
}

}  // namespace gyre::http
