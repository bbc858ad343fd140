// programs/gyre/serve/observer.hpp: counts and logs what a loop has answered, and the server's options made of the settings.
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

/// The limits of connections hold for all servers that are counted together. Lifetime: `heard` outlives the server.
[[nodiscard]] gyre::http::server_options make_server_options(const serve_settings& settings, observer& heard,
                                                             gyre::http::shared_connection_count& counted_with);

}  // namespace programs
