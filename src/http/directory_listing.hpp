// src/http/directory_listing.hpp: what is in a directory, as a page for people or as JSON for programs.
#pragma once

#include <gyre/http/request.hpp>
#include <gyre/http/response.hpp>

#include "listing_cache.hpp"

namespace gyre::http {

/// Sorted as the query asks: "?sort=name|size|time&order=asc|desc". A long one is written while it is sent, so that it is never
/// in memory as a whole.
///
/// Lifetime: the descriptors in `wanted` are good until the await returns. Cancel: nothing has happened. Errors: as
/// listing_cache::get.
task<response> list_as_response(request& r, listing_cache& cache, wanted_directory wanted);

}  // namespace gyre::http
