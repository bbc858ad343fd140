// src/client/redirect.cpp: where a redirect leads, and what does not go there. RFC 9110 §15.4.
#include "client_exchange.hpp"
#include "url_reader.hpp"

namespace gyre::http {

// An empty Location leads nowhere, as for browsers and curl.
bool client_exchange::is_redirect() const noexcept {
  const int status = channel_.status();
  if (status != 301 && status != 302 && status != 303 && status != 307 && status != 308) return false;
  const field* const location = find_field(channel_.fields(), "Location");
  return location != nullptr && !location->value.empty();
}

// Throws a client_error when it is refused. The response with the redirect is gone then, and its connection is kept or
// closed as after any response.
void client_exchange::follow_redirect(unsigned followed) {
  const std::string_view location = find_field(channel_.fields(), "Location")->value;
  if (followed >= max_redirects) fail(client_errc::too_many_redirects, shown_without_user(location));
  std::string reference(location);
  if (!location.contains('#') && !request.url.fragment().empty())  // inherited: RFC 9110 §10.2.2
    reference.append("#").append(request.url.fragment());
  auto next = request.url.resolve(reference);
  if (!next) fail(client_errc::bad_redirect, next.error());
  if (next->scheme() != "http" && next->scheme() != "https") fail(client_errc::bad_redirect, next->string());
  if (request.url.scheme() == "https" && next->scheme() == "http" && !state_.options().redirects.to_plain_text)
    fail(client_errc::bad_redirect, "it leads from https to " + next->string());
  const bool same_origin = next->origin() == request.url.origin();

  // As browsers do: RFC 9110 §15.4.2 to §15.4.4.
  const int status = channel_.status();
  const bool see_other = status == 303 && request.method != "GET" && request.method != "HEAD";
  if (see_other || ((status == 301 || status == 302) && request.method == "POST")) {
    request.method = "GET";
    request.drop_body();
    body.drop();
    expects_continue = false;
  } else if (!body.rewind()) {
    fail(client_errc::no_repeatable_body);
  }
  if (same_origin)
    next->take_user_of(request.url);
  else
    request.drop_credentials();
  identified_ = identified_ && same_origin;
  abandon_body();
  request.url = std::move(*next);
  request.target.clear();
}

}  // namespace gyre::http
