// programs/gyre/serve/site.cpp: files, and what stands around them.
#include "programs/gyre/serve/site.hpp"

#include "programs/gyre/serve/upload.hpp"

#include <gyre/http/compress.hpp>
#include <gyre/http/cors.hpp>
#include <gyre/http/router.hpp>
#include <gyre/http/static_files.hpp>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace programs {
namespace {

namespace http = gyre::http;

// Adds the fields that were asked for to every response.
struct extra_fields {
  std::vector<std::pair<std::string, std::string>> fields;

  explicit extra_fields(const std::vector<std::string>& lines) {
    for (const std::string& line : lines) {
      const auto colon = line.find(':');
      const auto value = line.find_first_not_of(" \t", colon + 1);
      fields.emplace_back(line.substr(0, colon), value == std::string::npos ? "" : line.substr(value));
    }
    http::response probe;
    for (const auto& [name, value] : fields) probe.add_field(name, value);  // what cannot be sent is said now
  }
  gyre::task<http::response> operator()(http::request& request, http::next_handler next) {
    http::response answer = co_await next.or_error(request);
    for (const auto& [name, value] : fields) answer.set_field(name, value);
    co_return answer;
  }
};

http::static_files_options file_options(const serve_settings& settings) {
  http::static_files_options options;
  options.index = settings.index;
  options.listing = settings.listing;
  options.hidden = settings.hidden;
  options.cache_control = settings.cache_control;
  if (settings.spa) options.fallback = settings.index;
  return options;
}

}  // namespace

http::handler make_site(const serve_settings& settings) {
  http::router routes;
  if (!settings.headers.empty()) routes.use(extra_fields(settings.headers));
  if (!settings.cors.empty()) {
    http::cors_options options;
    options.origins = settings.cors;
    routes.use(http::cors(std::move(options)));
  }
  if (settings.compress) routes.use(http::compress());
  routes.get("/{path...}", http::static_files(settings.root, file_options(settings)));
  if (!settings.upload.empty()) add_upload(routes, settings.upload, settings.upload_limit);
  return routes;
}

}  // namespace programs
