// gyre/client.hpp: an HTTP/1.1 client. RFC 9110, RFC 9112. Needs the target gyre::client and OpenSSL 3.
//
// Must not depend on: programs.
//
//   client           sends requests; a pool of connections for each origin
//   get, post        the same with the client of this loop
//   client_options   limits, time-outs, policies
//   cookie_jar       the cookies that servers have set
//   client_middleware  functions around requests
//   bearer_tokens    tokens that expire, for middleware
//   circuit_breaker  a pause for servers that keep failing
//   propagate_trace  the trace of the running task in requests
//   request_log      a record of each request
//   shared_retry_budget  retries of clients on several loops
//   recorded_exchanges  real responses in a file, for tests
//   connector        opens connections in a way of the program's own
//   proxy_options    HTTP and SOCKS proxies
//   client_request   builds a request
//   request_body     a body that is made while it is sent
//   client_response  the response, and its body as a stream
//   client_error     what can go wrong
//   url              the address of a resource
#pragma once

#include <gyre/client/bearer_tokens.hpp>
#include <gyre/client/circuit_breaker.hpp>
#include <gyre/client/client.hpp>
#include <gyre/client/client_error.hpp>
#include <gyre/client/client_middleware.hpp>
#include <gyre/client/client_options.hpp>
#include <gyre/client/client_request.hpp>
#include <gyre/client/client_response.hpp>
#include <gyre/client/connector.hpp>
#include <gyre/client/cookie_jar.hpp>
#include <gyre/client/propagate_trace.hpp>
#include <gyre/client/proxy_options.hpp>
#include <gyre/client/recorded_exchanges.hpp>
#include <gyre/client/request_body.hpp>
#include <gyre/client/request_log.hpp>
#include <gyre/client/shared_retry_budget.hpp>
#include <gyre/client/url.hpp>
