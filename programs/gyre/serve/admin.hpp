// programs/gyre/serve/admin.hpp: the routes for operators and monitoring: health, readiness, metrics.
#pragma once

#include "programs/gyre/serve/traffic.hpp"

#include <gyre/http/router.hpp>

#include <functional>

namespace programs {

/// GET /healthz: 200 as long as the loop turns. GET /readyz: 503 if `draining()`. GET
/// /metrics: in the format of Prometheus, with those of `more_metrics`.
[[nodiscard]] gyre::http::router make_admin(std::function<bool()> draining, std::function<void(traffic&)> collect,
                                            std::function<std::string()> more_metrics = {});

}  // namespace programs
