// programs/gyre/serve/upload.hpp: accepts files, from a form in the browser or by PUT.
#pragma once

#include <gyre/http/router.hpp>

#include <cstdint>
#include <string>

namespace programs {

/// Adds GET /_upload, the form; POST /_upload, which writes each file of the form to `directory`; and
/// PUT /_upload/{name}, which writes the body to a file of that name. An existing file is never replaced: a file of the
/// form gets a number, and a PUT gets 409. An incomplete upload leaves nothing behind. Units: `limit` is in bytes.
void add_upload(gyre::http::router& routes, const std::string& directory, std::uint64_t limit);

}  // namespace programs
