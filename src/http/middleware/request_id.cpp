// src/http/middleware/request_id.cpp: random bits as text.
#include <gyre/http/characters.hpp>
#include <gyre/http/field.hpp>
#include <gyre/http/request_id.hpp>
#include <gyre/io/random_bytes.hpp>

#include <algorithm>
#include <stdexcept>

namespace gyre::http {
namespace {

struct numbering {
  request_id_options options;

  task<response> operator()(request& r, next_handler next) const {
    const std::string_view brought = options.trust_client ? r.field(options.field) : std::string_view();
    std::string id = is_request_id(brought) ? std::string(brought) : make_request_id();
    r.set_attribute("request_id", id);
    response made = co_await next.or_error(r);
    made.set_field(options.field, id);
    co_return made;
  }
};

}  // namespace

std::string make_request_id() { return io::random_hex(16); }

bool is_request_id(std::string_view text) noexcept {
  constexpr std::size_t max_size = 128;
  constexpr std::string_view punctuation = "-._~+/=:@";
  return !text.empty() && text.size() <= max_size && std::all_of(text.begin(), text.end(), [&](char c) {
    return is_digit(c) || is_letter(c) || punctuation.find(c) != std::string_view::npos;
  });
}

middleware request_id(request_id_options options) {
  if (!is_token(options.field)) throw std::invalid_argument("request_id: the name of the field is not a token");
  return numbering{std::move(options)};
}

}  // namespace gyre::http
