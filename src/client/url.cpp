// src/client/url.cpp: parses and resolves. RFC 3986 §3, §5.2.
#include <gyre/client/url.hpp>

#include "url_reader.hpp"

#include <gyre/http/target.hpp>

#include <stdexcept>
#include <utility>

namespace gyre::http {

url::url(std::string_view text) {
  url_reader reader(*this);
  if (!reader.read(text)) throw std::invalid_argument(reader.sentence(text));
}

std::expected<url, std::string> url::parse(std::string_view text) {
  url made;
  url_reader reader(made);
  if (!reader.read(text)) return std::unexpected(reader.sentence(text));
  return made;
}

std::expected<url, std::string> url::resolve(std::string_view reference) const {
  url made;
  url_reader reader(made);
  if (!reader.read_reference(*this, reference)) return std::unexpected(reader.sentence(reference));
  return made;
}

std::string_view url::host() const noexcept {
  std::string_view host = part(scheme_end_ + 3, host_end_);
  if (host.starts_with('[')) host = host.substr(1, host.size() - 2);
  return host;
}

void url::take_user_of(const url& other) {
  if (!user_.empty() || !password_.empty()) return;
  user_ = other.user_;
  password_ = other.password_;
}

void url::add_query(std::string_view name, std::string_view value) {
  std::string pair(1, path_end_ == query_end_ ? '?' : '&');
  if (query_end_ == path_end_ + 1) pair.clear();  // "?" and nothing after it
  pair += percent_encode(name, encode_for::query);
  pair += '=';
  pair += percent_encode(value, encode_for::query);
  text_.insert(query_end_, pair);
  query_end_ += pair.size();
}

}  // namespace gyre::http
