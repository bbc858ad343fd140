// src/http/escape.hpp: text of others inside of HTML and JSON.
#pragma once

#include <string>
#include <string_view>

namespace gyre::http {

/// As text or as a quoted attribute.
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

/// As a quoted string. Bytes that are no UTF-8 become U+FFFD. Characters that act on a terminal or a viewer (controls, those
/// that change the direction of text) are escaped. The value is the same, and the JSON itself is harmless to look at.
void append_json(std::string& out, std::string_view text);
/// The same without quotes.
void append_json_characters(std::string& out, std::string_view text);

}  // namespace gyre::http
