// src/http/semantics/multipart_part.cpp: parameters, names as browsers send them, and safe file names.
#include "multipart_part.hpp"

#include <gyre/http/field.hpp>
#include <gyre/io/printable.hpp>

#include "characters.hpp"

#include <algorithm>
#include <utility>

namespace gyre::http {
namespace {

struct parameter {
  std::string_view name;
  std::string value;
};
enum class taken { parameter, nothing, malformed };

// Returns the size of the quoted string at the beginning of `text`, including quotes, or 0 when it does not end. A
// backslash escapes only a quote or a backslash: some clients send unescaped paths.
std::size_t unquote(std::string_view text, std::string& out) {
  for (std::size_t i = 1; i < text.size(); ++i) {
    if (text[i] == '"') return i + 1;
    const bool escaped = text[i] == '\\' && i + 1 < text.size() && (text[i + 1] == '"' || text[i + 1] == '\\');
    if (escaped) ++i;
    out += text[i];
  }
  return 0;
}

// Takes the next of *( OWS ";" OWS [ parameter ] ), RFC 9110 §5.6.6.
taken take_parameter(std::string_view& rest, parameter& out) {
  do {
    rest = trim(rest);
    if (rest.empty()) return taken::nothing;
    if (rest.front() != ';') return taken::malformed;
    rest = trim(rest.substr(1));
  } while (rest.starts_with(';'));
  if (rest.empty()) return taken::nothing;
  const auto token_size = [&] {
    return static_cast<std::size_t>(std::find_if_not(rest.begin(), rest.end(), &is_token_character) - rest.begin());
  };
  std::size_t size = token_size();
  if (size == 0 || size == rest.size() || rest[size] != '=') return taken::malformed;
  out.name = rest.substr(0, size);
  out.value.clear();
  rest.remove_prefix(size + 1);
  if (rest.starts_with('"')) {
    size = unquote(rest, out.value);
  } else {
    size = token_size();
    out.value = rest.substr(0, size);
  }
  rest.remove_prefix(size);
  return size == 0 ? taken::malformed : taken::parameter;
}

// Decodes the characters that browsers encode in names: the quote and line ends. They leave a percent sign as it is.
std::string decode_name(std::string_view sent) {
  std::string out;
  out.reserve(sent.size());
  for (std::size_t i = 0; i < sent.size(); ++i) {
    const std::string_view next = sent.substr(i, 3);
    char decoded = 0;
    if (next == "%22")
      decoded = '"';
    else if (equal_ignoring_case(next, "%0d"))
      decoded = '\r';
    else if (equal_ignoring_case(next, "%0a"))
      decoded = '\n';
    out += decoded == 0 ? sent[i] : decoded;
    if (decoded != 0) i += 2;
  }
  return out;
}

bool continues_character(char c) noexcept { return (static_cast<unsigned char>(c) & 0xc0U) == 0x80; }

// Returns the size of the longest prefix of UTF-8 text that ends between two characters.
std::size_t cut_between_characters(std::string_view text, std::size_t max_size) noexcept {
  constexpr std::size_t max_character_size = 4;
  if (text.size() <= max_size) return text.size();
  for (std::size_t size = max_size; size + max_character_size > max_size; --size)
    if (!continues_character(text[size])) return size;
  return max_size;  // not UTF-8
}

// Controls (C0, DEL, C1), and characters that are invisible or reorder the text around them: bidirectional
// controls, line and paragraph separators, zero-width spaces, annotations, tags. Joiners (U+200C, U+200D) are not
// hidden: some scripts and emoji need them.
constexpr bool is_hidden_character(char32_t code) noexcept {
  struct range {
    char32_t first;
    char32_t last;
  };
  constexpr range hidden[] = {{0x00, 0x1f},     {0x7f, 0x9f},     {0xad, 0xad},     {0x61c, 0x61c},
                              {0x180e, 0x180e}, {0x200b, 0x200b}, {0x200e, 0x200f}, {0x2028, 0x202e},
                              {0x2060, 0x206f}, {0xfeff, 0xfeff}, {0xfff9, 0xfffb}, {0xe'0000, 0xe'007f}};
  for (const range& each : hidden)
    if (code >= each.first && code <= each.last) return true;
  return false;
}

// Replaces hidden characters by '_'. Removing them could join the bytes around them into a new hidden character.
void replace_hidden(std::string& name) {
  std::string clean;
  clean.reserve(name.size());
  for (std::string_view rest = name; !rest.empty();) {
    const leading_character next = first_character(rest);
    const std::size_t size = next.size > 0 ? next.size : 1;
    // Some terminals take a byte that is not UTF-8 for the character with that code.
    const bool hidden = next.size > 0 ? is_hidden_character(next.code) : next.code < 0xa0;
    if (hidden)
      clean += '_';
    else
      clean.append(rest.substr(0, size));
    rest.remove_prefix(size);
  }
  name = std::move(clean);
}

}  // namespace

bool is_boundary(std::string_view text) noexcept {
  constexpr std::size_t max_size = 70;
  constexpr std::string_view marks = "'()+_,-./:=? ";
  const auto may_stand = [&](char c) { return is_digit(c) || is_letter(c) || marks.find(c) != std::string_view::npos; };
  return !text.empty() && text.size() <= max_size && text.back() != ' ' &&
         std::all_of(text.begin(), text.end(), may_stand);
}

bool parse_disposition(std::string_view value, multipart_part& out) {
  const std::size_t end = std::min(value.find(';'), value.size());
  if (!equal_ignoring_case(trim(value.substr(0, end)), "form-data")) return false;
  value.remove_prefix(end);
  bool has_name = false;
  for (parameter found;;) {
    switch (take_parameter(value, found)) {
      case taken::malformed:
        return false;
      case taken::nothing:
        return has_name;
      case taken::parameter:
        break;
    }
    if (equal_ignoring_case(found.name, "name")) {
      if (has_name) return false;
      has_name = true;
      out.name = decode_name(found.value);
    } else if (equal_ignoring_case(found.name, "filename")) {
      if (out.file_name) return false;
      out.file_name = decode_name(found.value);
    }  // filename* must not be sent and is ignored: RFC 7578 §4.2
  }
}

bool leaves_data_alone(std::string_view encoding) noexcept {
  return equal_ignoring_case(encoding, "binary") || equal_ignoring_case(encoding, "8bit") ||
         equal_ignoring_case(encoding, "7bit");
}

std::string harmless_file_name(std::string_view sent) {
  constexpr std::size_t max_size = 255;  // NAME_MAX
  if (const std::size_t slash = sent.find_last_of("/\\"); slash != std::string_view::npos)
    sent.remove_prefix(slash + 1);
  std::string name(sent);
  std::erase_if(name, &is_control);
  replace_hidden(name);
  name.erase(0, std::min(name.find_first_not_of(". "), name.size()));
  name.resize(cut_between_characters(name, max_size));
  return name.empty() ? "unnamed" : name;
}

std::optional<std::string> multipart_boundary(std::string_view content_type) {
  const std::size_t end = std::min(content_type.find(';'), content_type.size());
  if (!equal_ignoring_case(trim(content_type.substr(0, end)), "multipart/form-data")) return std::nullopt;
  content_type.remove_prefix(end);
  std::optional<std::string> boundary;
  for (parameter found;;) {
    const taken what = take_parameter(content_type, found);
    if (what == taken::nothing) return boundary;
    if (what == taken::malformed) return std::nullopt;
    if (!equal_ignoring_case(found.name, "boundary")) continue;
    if (boundary || !is_boundary(found.value)) return std::nullopt;
    boundary = found.value;
  }
}

int status_for(multipart_error error) noexcept {
  switch (error) {
    case multipart_error::preamble_too_large:
    case multipart_error::header_too_large:
    case multipart_error::too_many_parts:
      return 413;
    case multipart_error::unknown_encoding:
      return 415;
    default:
      return 400;
  }
}

namespace {

struct multipart_description {
  multipart_error error;
  std::string_view text;
};
constexpr multipart_description multipart_descriptions[] = {
    {multipart_error::none, "no error"},
    {multipart_error::bad_boundary, "the boundary of the parts is malformed"},
    {multipart_error::preamble_too_large, "there is too much before the first part"},
    {multipart_error::bad_delimiter, "something stands behind a delimiter of parts"},
    {multipart_error::bad_header, "a field of a part is malformed"},
    {multipart_error::bad_disposition, "the Content-Disposition of a part is not there or malformed"},
    {multipart_error::bad_content_type, "the Content-Type of a part is repeated"},
    {multipart_error::unknown_encoding, "the Content-Transfer-Encoding of a part is unknown"},
    {multipart_error::header_too_large, "the fields of a part are too large"},
    {multipart_error::too_many_parts, "there are too many parts"},
    {multipart_error::missing_end, "the body ends before its last delimiter"},
};

}  // namespace

std::string_view describe(multipart_error error) noexcept {
  for (const multipart_description& each : multipart_descriptions)
    if (each.error == error) return each.text;
  return "unknown";
}

}  // namespace gyre::http
