// programs/gyre/serve/observer.cpp: passes exchanges on to the counters and the log.
#include "programs/gyre/serve/observer.hpp"

#include <gyre/http/access_log.hpp>
#include <gyre/loop/event_loop.hpp>

#include <unistd.h>

namespace programs {

observer::observer(const serve_settings& settings, traffic& counted) : counted_(counted) {
  if (settings.access_log == "off") return;
  gyre::http::access_log_options options;
  if (settings.access_log == "json") options.format = gyre::http::log_format::json;
  log_ = std::make_unique<gyre::http::access_log>(STDOUT_FILENO, options);
}

void observer::answered(const gyre::http::exchange& what) noexcept {
  counted_.count(what.status, what.body_bytes, what.duration);
  if (log_) log_->answered(what);
}

observers::observers(const serve_settings& settings, std::vector<traffic>& counted)
    : own_([&settings, &counted] { return observer(settings, counted[gyre::event_loop::current().index()]); }) {}

gyre::http::server_options make_server_options(const serve_settings& settings, observers& heard,
                                               gyre::security encryption) {
  gyre::http::server_options options;
  options.listen = settings.listen;
  options.threads = settings.threads;
  options.accept = settings.accept;
  options.limits = settings.limits;
  options.timeouts = settings.timeouts;
  options.observer = &heard;
  options.encryption = std::move(encryption);
  return options;
}

}  // namespace programs
