// src/http/middleware/cors.cpp: CORS options as response fields.
#include <gyre/http/cors.hpp>
#include <gyre/http/field.hpp>

#include "exchange/vary.hpp"

#include <algorithm>
#include <stdexcept>
#include <string_view>

namespace gyre::http {
namespace {

constexpr std::string_view star = "*";
using name_list = std::vector<std::string>;

bool has_star(const name_list& all) { return std::find(all.begin(), all.end(), star) != all.end(); }

std::string joined(const name_list& all) {
  std::string text;
  for (const std::string& each : all) text.append(text.empty() ? "" : ", ").append(each);
  return text;
}

void check_origin(std::string_view origin) {
  const std::size_t scheme = origin.find("://");
  const bool fits = scheme != std::string_view::npos && is_token(origin.substr(0, scheme)) &&
                    origin.size() > scheme + 3 && origin.find_first_of("/?# *", scheme + 3) == std::string_view::npos &&
                    is_field_value(origin);
  if (origin != star && !fits)
    throw std::invalid_argument("cors: \"" + std::string(origin) +
                                "\" is not an origin such as \"https://example.org\"");
}

void check_names(const name_list& all) {
  for (const std::string& each : all)
    if (!is_token(each)) throw std::invalid_argument("cors: \"" + each + "\" is not a token");
}

// A list of at least one token. With credentials "*" would mean a name "*", so the answer repeats the
// requested list if it can be parsed.
bool is_list_of_tokens(std::string_view list) noexcept {
  if (list.empty()) return false;
  for (std::string_view each = next_in_list(list); !each.empty(); each = next_in_list(list))
    if (!is_token(each)) return false;
  return true;
}

class permissions {
 public:
  explicit permissions(cors_options&& options)
      : options_(std::move(options)),
        any_origin_(has_star(options_.origins)),
        any_method_(has_star(options_.methods)),
        any_field_(has_star(options_.fields)),
        methods_(joined(options_.methods)),
        fields_(joined(options_.fields)),
        exposed_(joined(options_.exposed)) {
    if (any_origin_ && options_.credentials)
      throw std::invalid_argument("cors: every page of the world could act as the user; name the origins");
    if (options_.max_age && *options_.max_age < std::chrono::seconds::zero())
      throw std::invalid_argument("cors: max_age is negative");
    for (const std::string& each : options_.origins) check_origin(each);
    check_names(options_.methods);
    check_names(options_.fields);
    check_names(options_.exposed);
  }

  task<response> operator()(request& r, next_handler next) const {
    const std::string_view origin = r.field("Origin");
    const std::string_view wanted = r.field("Access-Control-Request-Method");
    if (r.method() == "OPTIONS" && !origin.empty() && !wanted.empty()) co_return answer_preflight(r);
    response made = co_await next.or_error(r);
    if (may_use(origin)) {
      allow_origin(made, origin);
      if (!exposed_.empty()) made.set_field("Access-Control-Expose-Headers", exposed_);
    }
    // Also added without an Origin: a cache must not give this response to a page that sends one.
    if (!any_origin_) add_vary(made, "Origin");
    co_return made;
  }

 private:
  // When any origin is allowed, requests without one get the field too: a cache may give the response to a page later.
  // Fetch standard, "CORS protocol and HTTP caches".
  [[nodiscard]] bool may_use(std::string_view origin) const noexcept {
    return any_origin_ || std::find(options_.origins.begin(), options_.origins.end(), origin) != options_.origins.end();
  }

  void allow_origin(response& made, std::string_view origin) const {
    made.set_field("Access-Control-Allow-Origin", any_origin_ ? star : origin);
    if (options_.credentials) made.set_field("Access-Control-Allow-Credentials", "true");
  }

  [[nodiscard]] response answer_preflight(const request& r) const {
    const std::string_view origin = r.field("Origin");
    const std::string_view method = r.field("Access-Control-Request-Method");
    const std::string_view fields = r.field("Access-Control-Request-Headers");
    response made = response::no_content();
    if (may_use(origin)) {
      allow_origin(made, origin);
      const std::string_view methods = any_method_ ? method : std::string_view(methods_);
      if (is_list_of_tokens(methods)) made.add_field("Access-Control-Allow-Methods", methods);
      const std::string_view allowed = any_field_ ? fields : std::string_view(fields_);
      if (!fields.empty() && is_list_of_tokens(allowed)) made.add_field("Access-Control-Allow-Headers", allowed);
      if (options_.max_age) made.add_field("Access-Control-Max-Age", std::to_string(options_.max_age->count()));
    }
    if (!any_origin_) add_vary(made, "Origin");
    if (any_method_) add_vary(made, "Access-Control-Request-Method");
    add_vary(made, "Access-Control-Request-Headers");
    return made;
  }

  cors_options options_;
  bool any_origin_;
  bool any_method_;
  bool any_field_;
  std::string methods_;
  std::string fields_;
  std::string exposed_;
};

}  // namespace

middleware cors(cors_options options) { return permissions(std::move(options)); }

}  // namespace gyre::http
