// gyre/http.hpp: an HTTP/1.1 server and its parts. RFC 9110, RFC 9112.
//
// Must not depend on: TLS, programs.
//
//   server           serves HTTP on a port, or on any stream
//   server_options   what a server answers, where it listens, and its limits
//   exchange_observer  learns of finished requests
//   server_limits    the limits and time-outs that the server enforces on clients
//   shared_connection_count  counts the connections of several servers together
//   router           finds the handler of a request by its method and path
//   handler          a callable that answers requests, of any type
//   middleware       wrappers around handlers
//   request          the request as a handler sees it
//   body_reader      the body of a request, as a stream
//   response         the response that a handler returns
//   body_writer      the stream to which a handler writes a response in pieces
//   json_format      conversion of the program's values to JSON
//   static_files     the files of a directory
//   status_error     an exception that the server answers with a status
//   version          the version of HTTP that a client speaks
//   value_from_text  numbers from parameters
//   characters       kinds of characters, for parsers
//   field            a header field, and the comparison of names
//   field_line       a field as a line of text
//   head_parser      the start line and the fields of a message
//   framing          the body length and the connection handling that the fields define
//   chunked_decoder  a body in chunks
//   body_decoder     a body of any framing
//   body_source      the interface of what a body is read from
//   body_sink        the interface of what a body is written to
//   parse_error      the errors of malformed messages
//   head_writer      heads and chunks as bytes
//   http_date        points of time
//   target           the target of a request, paths, forms
//   byte_range       the requested part of a representation
//   precondition     entity tags and conditional requests
//   cookie           the cookies of a request, and a cookie to set
//   negotiation      the coding or type that the client prefers
//   media_type       types of files, and parameters of Content-Type
//   status           codes and their reason phrases
//   multipart_decoder  a form with files
//   multipart_reader  the same form as a stream, part by part
//   compress           compresses responses for clients that accept it
//   cors               the pages of other origins that may use this server from a browser
//   authentication     authentication of clients: Basic and Bearer
//   request_id         an ID for each request
//   trace_context      the trace to which a request belongs
//   rate_limit         limits the requests of one client
//   handler_timeout    a limit on the time that handlers take
//   access_log         one line for each request
//   server_sent_events  a stream of events for a page
#pragma once

#include <gyre/http/access_log.hpp>
#include <gyre/http/authentication.hpp>
#include <gyre/http/base64.hpp>
#include <gyre/http/body_decoder.hpp>
#include <gyre/http/body_reader.hpp>
#include <gyre/http/body_sink.hpp>
#include <gyre/http/body_source.hpp>
#include <gyre/http/body_writer.hpp>
#include <gyre/http/byte_range.hpp>
#include <gyre/http/characters.hpp>
#include <gyre/http/chunked_decoder.hpp>
#include <gyre/http/compress.hpp>
#include <gyre/http/cookie.hpp>
#include <gyre/http/cors.hpp>
#include <gyre/http/exchange_observer.hpp>
#include <gyre/http/field.hpp>
#include <gyre/http/field_line.hpp>
#include <gyre/http/framing.hpp>
#include <gyre/http/handler.hpp>
#include <gyre/http/handler_timeout.hpp>
#include <gyre/http/head_parser.hpp>
#include <gyre/http/head_writer.hpp>
#include <gyre/http/http_date.hpp>
#include <gyre/http/json_format.hpp>
#include <gyre/http/media_type.hpp>
#include <gyre/http/middleware.hpp>
#include <gyre/http/multipart_decoder.hpp>
#include <gyre/http/multipart_reader.hpp>
#include <gyre/http/negotiation.hpp>
#include <gyre/http/parse_error.hpp>
#include <gyre/http/precondition.hpp>
#include <gyre/http/rate_limit.hpp>
#include <gyre/http/request.hpp>
#include <gyre/http/request_id.hpp>
#include <gyre/http/response.hpp>
#include <gyre/http/router.hpp>
#include <gyre/http/server.hpp>
#include <gyre/http/server_limits.hpp>
#include <gyre/http/server_options.hpp>
#include <gyre/http/server_sent_events.hpp>
#include <gyre/http/shared_connection_count.hpp>
#include <gyre/http/static_files.hpp>
#include <gyre/http/status.hpp>
#include <gyre/http/status_error.hpp>
#include <gyre/http/target.hpp>
#include <gyre/http/trace_context.hpp>
#include <gyre/http/value_from_text.hpp>
#include <gyre/http/version.hpp>
