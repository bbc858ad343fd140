// gyre/client/propagate_trace.hpp: sends the trace of the running task along. W3C Trace Context.
#pragma once

#include <gyre/attributes.hpp>
#include <gyre/client/client_middleware.hpp>

namespace gyre::http {

/// Adds traceparent and tracestate to requests: the next step of http::current_trace(), or of a new trace when there is
/// none. Requests with a traceparent of the program get no other.
[[nodiscard]] GYRE_API client_middleware propagate_trace();

}  // namespace gyre::http
