// programs/gyre/serve/serve.cpp: `gyre serve`: a site behind a server for operators.
#include "programs/gyre/serve/serve.hpp"

#include "programs/gyre/serve/front_server.hpp"
#include "programs/gyre/serve/site.hpp"

#include <gyre/io/printable.hpp>

#include <filesystem>

namespace programs {

int serve(const serve_settings& given) {
  serve_settings settings = given;
  if (settings.spa && settings.index.empty()) {
    gyre::print_diagnostic({"error: --spa answers with the index of the root: name a file with --index"});
    return 2;
  }
  const front_content content{
      .title = "gyre serves " + std::filesystem::absolute(settings.root).lexically_normal().string(),
      .description = describe(settings),
      .make_routes = [&settings] { return make_site(settings); }};
  return run_front_server(settings, content);
}

}  // namespace programs
