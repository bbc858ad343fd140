// programs/gyre/serve/upload.hpp: accepts files from a form in the browser.
#pragma once

#include <gyre/http/router.hpp>

#include <cstdint>
#include <string>

namespace programs {

/// Adds GET /_upload, the form, and POST /_upload, which writes each file to `directory`. An existing file is never
/// replaced: the new one gets a number. An incomplete upload leaves nothing behind.
void add_upload(gyre::http::router& routes, const std::string& directory, std::uint64_t limit);

}  // namespace programs
