// src/http/handler_failure.hpp: telling the loop's exception handler which request has failed, and whose handler that was.
#pragma once

#include <gyre/http/request.hpp>
#include <gyre/http/response.hpp>

namespace gyre::http {

/// Throws when a handler returned a response that was moved from.
void check_answer(const response& made);

/// Called while the exception is handled. Reports `kind` "GET /users/7 (route /users/{id})", handled at the line of the program
/// that added the handler. Errors: none; without memory the name is shorter.
void report_failure(const request& r, const char* kind = "request") noexcept;

}  // namespace gyre::http
