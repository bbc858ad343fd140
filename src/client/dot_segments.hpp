// src/client/dot_segments.hpp: removes "." and ".." from a path. RFC 3986 §5.2.4.
#pragma once

#include <cstddef>
#include <string>

namespace gyre::http {

/// Works in place, on the path from `path_begin` to the end of the text. An encoded dot is a dot, as for browsers.
void remove_dot_segments(std::string& text, std::size_t path_begin);

}  // namespace gyre::http
