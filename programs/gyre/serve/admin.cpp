// programs/gyre/serve/admin.cpp: the routes of the admin address.
#include "programs/gyre/serve/admin.hpp"

#include <gyre/http/router.hpp>
#include <gyre/tasks/to_thread.hpp>

#include <cstdint>
#include <memory>
#include <utility>

namespace programs {

gyre::http::router make_admin(std::function<bool()> draining, std::function<void(traffic&)> collect,
                              std::function<std::string()> more_metrics) {
  using gyre::http::request;
  using gyre::http::response;
  gyre::http::router routes;
  routes.get("/healthz", [](request&) { return response::text("ok\n"); });
  routes.get("/readyz", [draining = std::move(draining)](request&) {
    return draining() ? response::error(503, "draining") : response::text("ready\n");
  });
  routes.get("/metrics",
             [collect = std::move(collect), more = std::move(more_metrics)](request&) -> gyre::task<response> {
               std::uint64_t descriptors = counted_descriptors();
               if (descriptors == 0) descriptors = co_await gyre::to_thread(&count_descriptors);
               const auto sum = std::make_unique<traffic>();
               collect(*sum);
               const std::string own = more ? more() : std::string();
               co_return response::bytes(sum->text() + own + process_metrics(descriptors),
                                         "text/plain; version=0.0.4; charset=utf-8");
             });
  return routes;
}

}  // namespace programs
