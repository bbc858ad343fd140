// src/http/middleware/trace_context.cpp: reads and writes traceparent. W3C Trace Context §3.2.
#include <gyre/http/characters.hpp>
#include <gyre/http/field.hpp>
#include <gyre/http/trace_context.hpp>
#include <gyre/io/random_bytes.hpp>

#include <algorithm>
#include <cstddef>
#include <utility>

namespace gyre::http {
namespace {

constexpr std::size_t trace_digits = 32;
constexpr std::size_t parent_digits = 16;
constexpr std::size_t max_state_size = 512;  // §3.3.1.5

bool is_hex(std::string_view text) noexcept {
  return std::ranges::all_of(text, [](char c) { return hex_value(c) >= 0 && c == to_lower(c); });
}
bool is_id(std::string_view text) noexcept { return is_hex(text) && text.find_first_not_of('0') != text.npos; }

unsigned digit(char c) noexcept { return static_cast<unsigned>(hex_value(c)); }

struct tracing {
  bool trust_client;

  task<response> operator()(request& r, next_handler next) const {
    auto brought = trust_client ? trace_context::parse(r.field("traceparent")) : std::nullopt;
    if (brought && r.field("tracestate").size() <= max_state_size) brought->state = r.field("tracestate");
    trace_context step = brought ? brought->next_step() : trace_context::begin();
    r.set_attribute("trace_id", step.trace_id);
    const auto bound = current_trace().bind(std::move(step));
    co_return co_await next(r);
  }
};

}  // namespace

// Later versions may append parts: §3.2.3.
std::optional<trace_context> trace_context::parse(std::string_view text) {
  constexpr std::size_t size = 55;  // 00-<32 digits>-<16 digits>-01
  constexpr std::size_t trace_at = 3;
  constexpr std::size_t parent_at = trace_at + trace_digits + 1;
  constexpr std::size_t flags_at = parent_at + parent_digits + 1;
  if (text.size() < size || text[trace_at - 1] != '-' || text[parent_at - 1] != '-' || text[flags_at - 1] != '-')
    return std::nullopt;
  const std::string_view version = text.substr(0, 2);
  const std::string_view flags = text.substr(flags_at, 2);
  if (!is_hex(version) || version == "ff" || !is_hex(flags)) return std::nullopt;
  if (text.size() > size && (version == "00" || text[size] != '-')) return std::nullopt;
  trace_context read{.trace_id = std::string(text.substr(trace_at, trace_digits)),
                     .parent_id = std::string(text.substr(parent_at, parent_digits)),
                     .sampled = (digit(flags[1]) & 1U) != 0};
  if (!is_id(read.trace_id) || !is_id(read.parent_id)) return std::nullopt;
  return read;
}

trace_context trace_context::begin() {
  return {.trace_id = io::random_hex(trace_digits / 2), .parent_id = io::random_hex(parent_digits / 2)};
}

trace_context trace_context::next_step() const {
  trace_context step = *this;
  step.parent_id = io::random_hex(parent_digits / 2);
  return step;
}

std::string trace_context::traceparent() const {
  return "00-" + trace_id + "-" + parent_id + (sampled ? "-01" : "-00");
}

const task_local<trace_context>& current_trace() noexcept {
  static const task_local<trace_context> trace;
  return trace;
}

middleware trace_requests(bool trust_client) { return tracing{trust_client}; }

}  // namespace gyre::http
