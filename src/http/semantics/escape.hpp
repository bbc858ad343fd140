// src/http/semantics/escape.hpp: escaping untrusted text for HTML and JSON.
#pragma once

#include <string>
#include <string_view>

namespace gyre::http {

/// Escapes text for HTML content or a quoted attribute.
inline void append_html(std::string& out, std::string_view text) {
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out += c;
    }
  }
}

/// Appends a quoted string. Bytes that are not UTF-8 become U+FFFD. Characters that act on a terminal or a viewer
/// (controls, direction overrides) are escaped. The value stays the same, and the JSON itself is safe to display.
void append_json(std::string& out, std::string_view text);
/// Same as append_json, without the quotes.
void append_json_characters(std::string& out, std::string_view text);

}  // namespace gyre::http
