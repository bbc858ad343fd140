// src/client/propagate_trace.cpp: fields for the server's trace.
#include <gyre/client/propagate_trace.hpp>

#include <gyre/http/trace_context.hpp>

#include <utility>

namespace gyre::http {

client_middleware propagate_trace() {
  return [](client_request request, next_sender next) -> task<client_response> {
    if (!request.has_header("traceparent")) {
      const trace_context* const current = current_trace().get();
      const trace_context step = current == nullptr ? trace_context::begin() : current->next_step();
      request.header("traceparent", step.traceparent());
      if (!step.state.empty()) request.header("tracestate", step.state);
    }
    co_return co_await next(std::move(request));
  };
}

}  // namespace gyre::http
