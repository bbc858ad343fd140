// gyre/http.hpp: HTTP/1.1 messages. RFC 9110, RFC 9112.
//
// May not know: TLS, programs.
//
//   field              a header field, and how names are compared
//   head_parser        the start line and the fields of a message
//   framing            what the fields say about the body and the connection
//   chunked_decoder    a body in chunks
//   multipart_decoder  a form with files
//   parse_error        what can be wrong with a message
//   head_writer        heads and chunks as bytes
//   http_date          points of time
//   target             the target of a request, paths, forms
//   status             codes and their reason phrases
#pragma once

#include <gyre/http/chunked_decoder.hpp>
#include <gyre/http/field.hpp>
#include <gyre/http/framing.hpp>
#include <gyre/http/head_parser.hpp>
#include <gyre/http/head_writer.hpp>
#include <gyre/http/http_date.hpp>
#include <gyre/http/multipart_decoder.hpp>
#include <gyre/http/parse_error.hpp>
#include <gyre/http/status.hpp>
#include <gyre/http/target.hpp>
