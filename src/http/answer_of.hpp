// src/http/answer_of.hpp: what the handlers behind a middleware answer, also when they answer by throwing.
#pragma once

#include <gyre/http/middleware.hpp>
#include <gyre/http/status_error.hpp>

namespace gyre::http {

/// As the connection would, and sooner: for middleware whose fields belong on such answers, too.
inline task<response> answer_of(request& r, next_handler next) {
  try {
    co_return co_await next(r);
  } catch (const status_error& error) {
    const int status = error.status();
    co_return response::error(status >= 200 && status <= 999 ? status : 500, error.what());
  }
}

}  // namespace gyre::http
