// programs/gyre/serve/site.cpp: static files, and the middleware around them.
#include "programs/gyre/serve/site.hpp"

#include "programs/gyre/serve/allowed_hosts.hpp"
#include "programs/gyre/serve/upload.hpp"

#include <gyre/http/compress.hpp>
#include <gyre/http/cors.hpp>
#include <gyre/http/field.hpp>
#include <gyre/http/router.hpp>
#include <gyre/http/static_files.hpp>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace programs {
namespace {

namespace http = gyre::http;

// Adds the configured fields to every response, replacing existing ones. Vary is always added, because caches need
// every Vary. A name that is configured twice is sent twice.
struct extra_fields {
  struct extra {
    std::string name;
    std::string value;
    bool replaces = true;
  };
  std::vector<extra> fields;

  explicit extra_fields(const std::vector<std::string>& lines) {
    for (const std::string& line : lines) {
      const auto colon = line.find(':');
      const auto value = line.find_first_not_of(" \t", colon + 1);
      extra added{.name = line.substr(0, colon), .value = value == std::string::npos ? "" : line.substr(value)};
      added.replaces = !http::equal_ignoring_case(added.name, "Vary") && !knows(added.name);
      fields.push_back(std::move(added));
    }
  }
  gyre::task<http::response> operator()(http::request& request, http::next_handler next) {
    http::response answer = co_await next.or_error(request);
    for (const extra& each : fields) {
      if (each.replaces)
        answer.set_field(each.name, each.value);
      else
        answer.add_field(each.name, each.value);
    }
    co_return answer;
  }

 private:
  [[nodiscard]] bool knows(std::string_view name) const {
    for (const extra& each : fields)
      if (http::equal_ignoring_case(each.name, name)) return true;
    return false;
  }
};

http::static_files_options file_options(const serve_settings& settings) {
  http::static_files_options options;
  options.index = settings.index;
  options.listing = settings.listing;
  options.hidden = settings.hidden;
  options.cache_control = settings.cache_control;
  options.precompressed = !serves_uploads(settings);  // an upload could pass as the compressed form of an existing file
  if (settings.spa) options.fallback = settings.index;
  return options;
}

// Pages read parts of large files: maps, videos, columns of tables. They need the conditions of a request, the tag that
// these refer to, and the place of a part.
http::cors_options cors_options_for(const std::vector<std::string>& origins) {
  http::cors_options options;
  options.origins = origins;
  options.fields = {"Content-Type",       "Range", "If-Range", "If-Match", "If-None-Match", "If-Modified-Since",
                    "If-Unmodified-Since"};
  options.exposed = {"Accept-Ranges", "Content-Range", "ETag", "X-Listing-Truncated"};
  return options;
}

}  // namespace

http::handler make_site(const serve_settings& settings) {
  http::router routes;
  if (!settings.headers.empty()) routes.use(extra_fields(settings.headers));
  if (!settings.cors.empty()) routes.use(http::cors(cors_options_for(settings.cors)));
  if (settings.compress) routes.use(http::compress());
  routes.get("/{path...}", http::static_files(settings.root, file_options(settings)));
  if (!settings.upload.empty()) add_upload(routes, settings.upload, settings.upload_limit);
  return only_for({settings.listen, settings.allowed_hosts}, std::move(routes));
}

}  // namespace programs
