// programs/gyre/serve/observer.hpp: counts and logs the exchanges of each loop; server options from the settings.
#pragma once

#include "programs/gyre/serve/settings.hpp"
#include "programs/gyre/serve/traffic.hpp"

#include <gyre/http/server.hpp>
#include <gyre/loop/loop_local.hpp>

#include <functional>
#include <memory>
#include <vector>

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

/// One observer per loop, which is destroyed with its loop.
///
/// Lifetime: the settings and the counters must outlive the loops. Thread: any that has a loop.
class observers final : public gyre::http::exchange_observer {
 public:
  /// `counted` has an element for each loop.
  observers(const serve_settings& settings, std::vector<traffic>& counted);
  /// Makes the observer of this loop, which `answered` then uses. Errors: same as http::access_log.
  void begin_here() { (void)own_.get(); }
  void answered(const gyre::http::exchange& what) noexcept override { own_->answered(what); }

 private:
  gyre::loop_local<observer, std::function<observer()>> own_;
};

/// Without routes. Lifetime: both must outlive the server.
[[nodiscard]] gyre::http::server_options make_server_options(const serve_settings& settings, observers& heard,
                                                             gyre::security encryption);

}  // namespace programs
