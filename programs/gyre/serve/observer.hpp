// programs/gyre/serve/observer.hpp: counts and logs the exchanges of a loop; server options from the settings.
#pragma once

#include "programs/gyre/serve/settings.hpp"
#include "programs/gyre/serve/traffic.hpp"

#include <gyre/http/server.hpp>

#include <memory>

namespace programs {

/// Thread: one loop's.
class observer final : public gyre::http::exchange_observer {
 public:
  observer(const serve_settings& settings, traffic& counted);
  void answered(const gyre::http::exchange& what) noexcept override;

 private:
  traffic& counted_;
  std::unique_ptr<gyre::http::exchange_observer> log_;
};

/// Connection limits apply to all servers that share `counted_with`. Lifetime: `heard` must outlive the server.
[[nodiscard]] gyre::http::server_options make_server_options(const serve_settings& settings, observer& heard,
                                                             gyre::http::shared_connection_count& counted_with);

}  // namespace programs
