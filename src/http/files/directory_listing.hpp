// src/http/files/directory_listing.hpp: the contents of a directory, as HTML for people or as JSON for programs.
#pragma once

#include <gyre/http/request.hpp>
#include <gyre/http/response.hpp>

#include "listing_cache.hpp"

namespace gyre::http {

/// Sorted as the query asks: "?sort=name|size|time&order=asc|desc". A long listing is written while it is sent, so
/// it is never in memory as a whole.
///
/// Lifetime: the descriptors in `wanted` must be valid until the await returns. Cancel: nothing has happened.
/// Errors: same as listing_cache::get.
task<response> list_as_response(request& r, listing_cache& cache, wanted_directory wanted);

}  // namespace gyre::http
