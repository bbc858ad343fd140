// src/http/exchange/application.hpp: what answers requests on one loop, whatever protocol carries them.
#pragma once

#include <gyre/http/server_options.hpp>

#include "files/listing_cache.hpp"
#include "files/open_files.hpp"

namespace gyre::http {

struct application {
  server_options options;
  open_files files = {};
  listing_cache listings = {};
  bool draining = false;  // the server stops: the request that is being answered is the last one of its connection
};

}  // namespace gyre::http
