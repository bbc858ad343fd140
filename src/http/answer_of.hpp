// src/http/answer_of.hpp: what the handlers behind a middleware answer, also when they answer by throwing.
#pragma once

#include <gyre/http/middleware.hpp>
#include <gyre/http/status_error.hpp>

namespace gyre::http {

/// What other middleware throws, too: for those whose fields belong on such answers.
inline task<response> answer_of(request& r, next_handler next) {
  try {
    co_return co_await next(r);
  } catch (const status_error& error) {
    co_return response::error(error);
  }
}

}  // namespace gyre::http
