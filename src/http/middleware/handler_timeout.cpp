// src/http/middleware/handler_timeout.cpp: a time-out that answers the request.
#include <gyre/http/handler_timeout.hpp>
#include <gyre/tasks/timeout.hpp>

#include <stdexcept>

namespace gyre::http {
namespace {

struct limit {
  handler_timeout_options options;

  task<response> operator()(request& r, next_handler next) const {
    {
      const timeout_scope scope(co_await this_task_context{}, deadline_after(options.limit));
      try {
        co_return co_await next(r);
      } catch (const cancelled&) {
        if (!scope.absorbs_cancel()) throw;
      }
    }
    co_return response::error(options.status, options.message);
  }
};

}  // namespace

middleware handler_timeout(handler_timeout_options options) {
  if (options.limit < std::chrono::nanoseconds::zero())
    throw std::invalid_argument("handler_timeout: the limit is negative");
  (void)response(options.status);  // throws for an invalid status
  return limit{std::move(options)};
}

}  // namespace gyre::http
