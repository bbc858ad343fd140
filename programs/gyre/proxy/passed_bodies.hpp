// programs/gyre/proxy/passed_bodies.hpp: streams bodies through a proxy, and bytes after a switch of protocols.
#pragma once

#include "programs/gyre/proxy/forwarded_fields.hpp"
#include "programs/gyre/proxy/upstreams.hpp"

#include <gyre/client/client_response.hpp>
#include <gyre/client/request_body.hpp>
#include <gyre/coro/scope_exit.hpp>
#include <gyre/http/body_writer.hpp>
#include <gyre/http/request.hpp>
#include <gyre/stream/any_stream.hpp>
#include <gyre/stream/copy.hpp>

#include <string_view>
#include <utility>
#include <vector>

namespace programs {

/// Streams the rest of a response.
class passed_response {
 public:
  passed_response(gyre::http::client_response&& from, upstreams::use&& use, gyre::http::request& request)
      : response_(std::move(from)), use_(std::move(use)), request_(&request) {}
  gyre::task<> operator()(gyre::http::body_writer& out) {
    auto body = response_.body();
    {
      // A client that leaves in the middle of a body says nothing against the server.
      const gyre::scope_exit at_end([&]() noexcept {
        if (request_->body().failed()) return;
        if (body.has_failed())
          use_.failed();
        else if (body.received() > 0 || body.at_end())
          use_.succeeded();
      });
      (void)co_await body.copy_to(out);
    }
    auto trailers = body.trailers();
    keep_trailers_passed_on(trailers, response_.fields());
    for (const gyre::http::field& each : trailers) out.add_trailer(each.name, each.value);
    use_ = {};
  }

 private:
  gyre::http::client_response response_;
  upstreams::use use_;
  gyre::http::request* request_;
};

/// Streams the body of a request.
class passed_body final : public gyre::http::request_body_source {
 public:
  explicit passed_body(gyre::http::request& from) noexcept : from_(from) {}
  GYRE_CORO_WRAPPER gyre::task<std::string_view> next() override { return from_.body().receive(); }
  [[nodiscard]] gyre::http::body_reader* passes_on() noexcept override { return &from_.body(); }
  [[nodiscard]] std::vector<gyre::http::field> trailers() override {
    auto all = from_.body().trailers();
    keep_trailers_passed_on(all, from_.fields());
    return all;
  }

 private:
  gyre::http::request& from_;
};

/// Connects a client and a server that have agreed on another protocol.
class connected_server {
 public:
  connected_server(gyre::any_stream&& server, upstreams::use&& use)
      : server_(std::move(server)), use_(std::move(use)) {}
  gyre::task<> operator()(gyre::any_stream client) {
    (void)co_await gyre::copy_bidirectional(client, server_);
    use_ = {};
  }

 private:
  gyre::any_stream server_;
  upstreams::use use_;
};

}  // namespace programs
