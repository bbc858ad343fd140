// src/http/exchange/handler_failure.hpp: reports failed requests to the loop's exception handler.
#pragma once

#include <gyre/http/request.hpp>
#include <gyre/http/response.hpp>

namespace gyre::http {

/// Throws if a handler returned a moved-from response.
void check_answer(const response& made);

/// Called while the exception is being handled. Reports `kind` "GET /users/7 (route /users/{id})", with the line of the
/// program that added the handler. Errors: none; without memory the name is shorter.
void report_failure(const request& r, const char* kind = "request") noexcept;

}  // namespace gyre::http
