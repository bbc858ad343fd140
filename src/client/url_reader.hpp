// src/client/url_reader.hpp: builds a url from text.
#pragma once

#include <gyre/client/url.hpp>

#include <cstdint>
#include <string>
#include <string_view>

namespace gyre::http {

/// A text that may be a URL, for messages: printable, cut off when it is long, and without a user name and a password.
[[nodiscard]] std::string shown_without_user(std::string_view text);

class url_reader {
 public:
  explicit url_reader(url& out) noexcept : out_(out) {}
  /// A url to be filled.
  [[nodiscard]] static url blank() { return url(); }

  /// Reuses the memory of the url. Returns false when the text is not a URL.
  [[nodiscard]] bool read(std::string_view text);
  [[nodiscard]] bool read_reference(const url& base, std::string_view reference);
  /// The reason why the text is not a URL.
  [[nodiscard]] std::string sentence(std::string_view text) const;

 private:
  [[nodiscard]] bool refuse(const char* reason) noexcept {
    reason_ = reason;
    return false;
  }
  [[nodiscard]] bool begins_with_origin_of_last(std::string_view text) const noexcept;
  [[nodiscard]] bool has_only_text(std::string_view text) noexcept;
  [[nodiscard]] bool read_scheme(std::string_view scheme);
  [[nodiscard]] bool read_authority(std::string_view authority);
  [[nodiscard]] bool read_user(std::string_view user_and_password);
  [[nodiscard]] bool read_host(std::string_view host);
  [[nodiscard]] bool read_port(std::string_view digits);
  void read_rest(std::string_view path_and_more);
  void read_after_path(std::string_view rest);
  void append_encoded(std::string_view text);
  void take_origin(const url& base);

  url& out_;
  const char* reason_ = "";
};

}  // namespace gyre::http
