// gyre/http/trace_context.hpp: the trace to which a request belongs, across programs. W3C Trace Context.
#pragma once

#include <gyre/attributes.hpp>
#include <gyre/http/middleware.hpp>
#include <gyre/loop/task_local.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace gyre::http {

/// The fields traceparent and tracestate of a request.
struct trace_context {
  std::string trace_id = {};   ///< 32 hexadecimal digits: the same in all programs
  std::string parent_id = {};  ///< 16 hexadecimal digits: the step that sent the request
  bool sampled = true;
  std::string state = {};  ///< of tracing systems; passed on as it is

  /// Reads a traceparent field. Returns nothing when it is malformed: W3C Trace Context §3.2.
  [[nodiscard]] GYRE_API static std::optional<trace_context> parse(std::string_view traceparent);
  /// A new trace. Errors: std::system_error when the kernel returns no random bits.
  [[nodiscard]] GYRE_API static trace_context begin();
  /// The next step of this trace. Errors: same.
  [[nodiscard]] GYRE_API trace_context next_step() const;
  /// The text of a traceparent field.
  [[nodiscard]] GYRE_API std::string traceparent() const;
};

/// The trace of the running task, bound by trace_requests or by the program. The client's propagate_trace sends it on.
[[nodiscard]] GYRE_API const task_local<trace_context>& current_trace() noexcept;

/// Binds a step of the trace that the request belongs to while its handler runs, and begins a trace for requests that
/// bring none. Its attribute "trace_id" is for logs. With `trust_client` false every request begins a trace.
[[nodiscard]] GYRE_API middleware trace_requests(bool trust_client = true);

}  // namespace gyre::http
