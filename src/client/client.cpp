// src/client/client.cpp: the client as the program sees it.
#include <gyre/client/client.hpp>

#include <gyre/loop/loop_local.hpp>

#include "client_exchange.hpp"
#include "client_state.hpp"
#include "url_reader.hpp"

#include <stdexcept>
#include <utility>

namespace gyre::http {
namespace {

// For a request that is being prepared: gives it back when that fails.
using prepared = owned<client_exchange*, &client_exchange::recycle>;

constexpr const char* a_client = "an http::client";

client_request begin(client_state& state, std::string_view method, std::string_view text, const url* parsed) {
  state.owner.expect_own("request", a_client);
  prepared made(state.take_exchange());
  made->total = state.options().timeouts.total;
  made->max_redirects = state.options().redirects.max;
  made->request.set_method(method);
  if (parsed != nullptr) {
    if (made->request.url != *parsed) made->request.url = *parsed;  // a recycled exchange often has it already
  } else {
    url_reader reader(made->request.url);
    if (!reader.read(text)) throw std::invalid_argument(reader.sentence(text));
  }
  const std::string_view scheme = made->request.url.scheme();
  if (scheme != "http" && scheme != "https")
    throw std::invalid_argument("url \"" + made->request.url.string() + "\": the scheme is not http or https");
  return client_request(*made.release());
}

}  // namespace

client::client() : client(client_options()) {}
client::client(client_options options) : state_(new client_state(std::move(options))) {}
void client::destroy(client_state* state) noexcept {
  state->owner.check("destructor", a_client);
  state->close();
}

client_request client::request(std::string_view method, std::string_view url) {
  return begin(*state_, method, url, nullptr);
}
client_request client::request(std::string_view method, const http::url& url) {
  return begin(*state_, method, {}, &url);
}

void client::use(client_middleware function) {
  state_->owner.check("use", a_client);
  state_->middleware.push_back(std::move(function));
}

client_counts client::counts() const noexcept {
  state_->owner.check("counts", a_client);
  return state_->counts();
}
cookie_jar& client::cookies() noexcept {
  state_->owner.check("cookies", a_client);
  return state_->cookies;
}
void client::close_idle() noexcept {
  state_->owner.check("close_idle", a_client);
  state_->close_idle();
}

client& default_client() {
  static const loop_local<client> clients;
  return *clients;
}

}  // namespace gyre::http
