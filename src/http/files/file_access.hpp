// src/http/files/file_access.hpp: which names are served, and how a file that cannot be opened is answered.
#pragma once

#include <string_view>

namespace gyre::http {

/// Returns true for a relative path that has a segment with a dot at its beginning, except for ".well-known" as the
/// first one.
[[nodiscard]] bool has_hidden_segment(std::string_view path) noexcept;

/// Throws the status_error that fits this errno, or io_error when it is an error of the server.
[[noreturn]] void fail_to_open(int error, std::string_view path);

}  // namespace gyre::http
