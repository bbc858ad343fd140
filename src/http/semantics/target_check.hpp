// src/http/semantics/target_check.hpp: the targets and hosts that a request may have, whatever protocol carries it.
#pragma once

#include <gyre/http/parse_error.hpp>

#include <string_view>

namespace gyre::http {

/// `target` holds only characters of a target, and is not empty. `host` is the value of the Host field; its data() is
/// null without one. RFC 9110 §7.1, §7.2; RFC 9112 §3.2.
[[nodiscard]] parse_error check_target(std::string_view method, std::string_view target, std::string_view host,
                                       bool needs_host) noexcept;

}  // namespace gyre::http
