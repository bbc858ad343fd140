// src/coro/function_name.cpp: parses the strings that compilers return from std::source_location::function_name().
#include <gyre/coro/function_name.hpp>

#include <cstddef>
#include <cstring>
#include <span>
#include <string_view>

namespace gyre {
namespace {

/// Text in a fixed buffer. The part that does not fit is replaced by "...".
class name_buffer {
 public:
  explicit name_buffer(std::span<char> room) noexcept : room_(room) { clear(); }

  void clear() noexcept { cut(0); }
  void cut(std::size_t size) noexcept {
    size_ = size;
    room_[size_] = '\0';
  }
  void append(std::string_view text) noexcept {
    if (full_) return;
    constexpr std::string_view ellipsis = "...";
    const std::size_t left = room_.size() - 1 - ellipsis.size() - size_;
    copy(text.substr(0, left));
    full_ = text.size() > left;
    if (full_) copy(ellipsis);
  }
  [[nodiscard]] std::string_view view() const noexcept { return {room_.data(), size_}; }
  [[nodiscard]] bool full() const noexcept { return full_; }

 private:
  void copy(std::string_view text) noexcept {
    std::memcpy(room_.data() + size_, text.data(), text.size());
    cut(size_ + text.size());
  }

  std::span<char> room_;
  std::size_t size_ = 0;
  bool full_ = false;
};

bool is_word_character(char c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '~' ||
         c == '$' || static_cast<unsigned char>(c) >= 0x80;
}

/// Parses a signature from left to right. The name begins after the last space outside brackets, and
/// ends at the last parameter list.
class signature_parser {
 public:
  signature_parser(std::string_view signature, name_buffer& out) noexcept : rest_(signature), out_(out) {}

  void parse() noexcept {
    while (!rest_.empty() && !out_.full())
      if (!parse_next()) return;
  }

 private:
  bool take(std::string_view prefix) noexcept {
    if (!rest_.starts_with(prefix)) return false;
    rest_.remove_prefix(prefix.size());
    return true;
  }
  std::string_view take_word() noexcept {
    std::size_t size = 0;
    while (size < rest_.size() && is_word_character(rest_[size])) ++size;
    const std::string_view word = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return word;
  }
  void begin_again() noexcept {
    out_.clear();
    in_lambda_ = false;
    at_start_ = true;
  }
  void add_component(std::string_view name) noexcept {
    if (!out_.view().empty()) out_.append("::");
    out_.append(name);
    in_lambda_ = false;
    at_start_ = false;
  }

  // Returns false when the name is complete.
  bool parse_next() noexcept {
    const char next = rest_.front();
    if (take("::")) {
      at_start_ = true;
    } else if (next == '(' || next == '<' || next == '{' || next == '[') {
      return parse_bracket();
    } else if (is_word_character(next)) {
      const std::string_view word = take_word();
      if (word == "operator") return parse_operator();
      if (word == "decltype" && rest_.starts_with('('))
        skip_bracket();
      else
        add_component(word);
    } else if (rest_.starts_with(" [")) {  // "<lambda(auto:1)> [with auto:1 = int]": no parameters
      return false;
    } else {  // a space, * or &: the text so far was a specifier or the return type
      rest_.remove_prefix(1);
      begin_again();
    }
    return true;
  }

  bool parse_bracket() noexcept {
    if (at_start_ && parse_unnamed()) return true;
    if (!rest_.starts_with('(')) {  // template arguments, or a tag like [abi:cxx11]
      skip_bracket();
      return true;
    }
    if (at_start_) {  // the return type is a function pointer: "int (*name(char))(int)"
      rest_.remove_prefix(1);
      return true;
    }
    skip_bracket();
    return function_contains_more();
  }

  // "(anonymous namespace)", "{anonymous}", "<unnamed>", "(anonymous class)", "<lambda(int)>", "(lambda at x:1:2)", …
  bool parse_unnamed() noexcept {
    const std::string_view text = rest_.substr(1);
    const bool lambda = text.starts_with("lambda") || text.starts_with("anonymous class");
    if (!lambda && !text.starts_with("anonymous") && !text.starts_with("unnamed")) return false;
    const bool of_namespace = text.starts_with("anonymous namespace)") || text.starts_with("anonymous}") ||
                              text.starts_with("unnamed>") || text.starts_with("unnamed}");
    skip_bracket();
    if (!of_namespace) add_component(lambda ? "lambda" : "unnamed");
    in_lambda_ = lambda;
    at_start_ = false;
    return true;
  }

  // After parameters: returns true if this function contains the named one, as in "main()::<lambda()>::operator()()".
  bool function_contains_more() noexcept {
    for (;;) {
      if (rest_.starts_with("::")) return true;
      if (rest_.starts_with(" [")) {  // "[with T = int]"
        rest_.remove_prefix(1);
        skip_bracket();
      } else if (rest_.starts_with(" requires ")) {  // g++ does not bracket the constraint
        const std::size_t lambda = rest_.find("::<lambda");
        if (lambda == std::string_view::npos) return false;
        rest_.remove_prefix(lambda);
      } else if (!take(" const") && !take(" volatile") && !take(" mutable") && !take(" noexcept") && !take(" static") &&
                 !take(" &&") && !take(" &")) {
        return false;
      }
    }
  }

  std::string_view take_operator_symbol() noexcept {
    static constexpr std::string_view symbols[] = {
        "<=>", "->*", "<<=", ">>=", "()", "[]", "->", "<<", ">>", "<=", ">=", "==",   "!=",      "&&",
        "||",  "++",  "--",  "+=",  "-=", "*=", "/=", "%=", "^=", "&=", "|=", "+",    "-",       "*",
        "/",   "%",   "^",   "&",   "|",  "~",  "!",  "=",  "<",  ">",  ",",  " new", " delete", " co_await"};
    for (const std::string_view symbol : symbols) {
      if (!rest_.starts_with(symbol)) continue;
      const std::string_view behind = rest_.substr(symbol.size());
      if (is_word_character(symbol.back()) && !behind.empty() && is_word_character(behind.front()))
        continue;  // " newt"
      rest_ = behind;
      return symbol;
    }
    return {};
  }

  bool parse_operator() noexcept {
    const bool of_lambda = in_lambda_;
    const std::size_t before = out_.view().size();
    add_component("operator");
    if (take("\"\"")) {
      take(" ");
      out_.append("\"\"");
      out_.append(take_word());
    } else if (const std::string_view symbol = take_operator_symbol(); !symbol.empty()) {
      out_.append(symbol);
      if (symbol == "()" && of_lambda) out_.cut(before);  // the lambda has its name already
    } else {
      return parse_conversion();
    }
    if (rest_.starts_with(" <")) rest_.remove_prefix(1);  // "operator< <int>"
    return true;
  }

  // "operator gyre::task<int>() const". In a coroutine, g++ 12 writes the type only in its parameters:
  // "operator void(ns::type::operator gyre::task<int>() const::_ZNK….Frame*)".
  bool parse_conversion() noexcept {
    const std::size_t before = out_.view().size();
    parse_conversion_type();
    if (out_.view().ends_with("operator void") && rest_.starts_with('(')) {
      const std::string_view own = rest_;
      skip_bracket();
      std::string_view parameters = own.substr(0, own.size() - rest_.size());
      const std::size_t again = parameters.rfind("::operator ");
      if (parameters.ends_with(".Frame*)") && again != std::string_view::npos) {
        out_.cut(before);
        rest_ = parameters.substr(again + std::strlen("::operator"));
        parse_conversion_type();
        return false;
      }
      rest_ = own;
    }
    return true;
  }

  // Appends the last component of the type, without template arguments and with its qualifiers: " int*".
  void parse_conversion_type() noexcept {
    std::size_t type = out_.view().size();
    while (!rest_.empty()) {
      const char next = rest_.front();
      if (take("::")) {
        out_.cut(type);
        at_start_ = true;
      } else if (next == '<' || next == '{' || (next == '(' && at_start_)) {
        skip_bracket();
      } else if (next == '(') {
        return;
      } else if (is_word_character(next)) {
        type = out_.view().size();
        out_.append(" ");
        out_.append(take_word());
        at_start_ = false;
      } else {
        rest_.remove_prefix(1);
        at_start_ = next == ' ';
        if (!at_start_) out_.append(std::string_view(&next, 1));
      }
    }
  }

  // Skips to the end of the bracket that opens here. Angle brackets count only inside angle brackets:
  // in "(a > b)" they are operators.
  void skip_bracket() noexcept {
    const char open = rest_.front();
    const char close = open == '(' ? ')' : open == '[' ? ']' : open == '{' ? '}' : '>';
    rest_.remove_prefix(1);
    while (!rest_.empty() && !take(std::string_view(&close, 1))) {
      const char next = rest_.front();
      if (next == '(' || next == '[' || next == '{' || (next == '<' && close == '>'))
        skip_bracket();
      else if (next == '\'' || next == '"')
        skip_literal(next);
      else if (is_word_character(next) && take_word() == "operator")
        take_operator_symbol();
      else if (!is_word_character(next) && !take("->"))
        rest_.remove_prefix(1);
    }
  }
  void skip_literal(char quote) noexcept {
    rest_.remove_prefix(1);
    while (!rest_.empty() && rest_.front() != quote)
      rest_.remove_prefix(rest_.front() == '\\' && rest_.size() > 1 ? 2 : 1);
    if (!rest_.empty()) rest_.remove_prefix(1);
  }

  std::string_view rest_;
  name_buffer& out_;
  bool at_start_ = true;    // at the start of a component, where a bracket is an unnamed namespace or class
  bool in_lambda_ = false;  // the last component is a lambda
};

}  // namespace

short_function_name::short_function_name(const char* signature) noexcept {
  name_buffer name(text_);
  signature_parser(signature, name).parse();
  if (name.view().empty()) name.append(signature);  // better than nothing
}

}  // namespace gyre
