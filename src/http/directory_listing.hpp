// src/http/directory_listing.hpp: what is in a directory, as a page for people or as JSON for programs.
#pragma once

#include <gyre/http/request.hpp>
#include <gyre/http/response.hpp>
#include <gyre/io/owned_fd.hpp>

#include <string>

namespace gyre::http {

/// `path` is shown, and relative to the directory `root`, out of which no link leads that is listed. Sorted as the query asks: "?sort=name|size|time&order=asc|desc".
task<response> list_as_response(request& r, int root, owned_fd directory, std::string path, bool hidden);

}  // namespace gyre::http
