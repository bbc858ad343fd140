// programs/gyre/serve/admin.hpp: what operators and their machines ask for: health, readiness, metrics.
#pragma once

#include "programs/gyre/serve/traffic.hpp"

#include <gyre/http/router.hpp>

#include <functional>

namespace programs {

/// GET /healthz: 200 as long as the loop turns. GET /readyz: 503 when `draining()`. GET /metrics: for Prometheus.
[[nodiscard]] gyre::http::router make_admin(std::function<bool()> draining, std::function<void(traffic&)> collect);

}  // namespace programs
