// src/http/files/file_access.cpp: hidden names, and the status of each errno of open(2).
#include <gyre/http/status_error.hpp>
#include <gyre/io/io_error.hpp>

#include "file_access.hpp"

#include <cerrno>
#include <system_error>

namespace gyre::http {

// RFC 8615 reserves the first segment ".well-known" for what must be public, such as the answers to an ACME challenge.
bool has_hidden_segment(std::string_view path) noexcept {
  constexpr std::string_view well_known = ".well-known";
  if (path == well_known) return false;
  if (path.starts_with(well_known) && path[well_known.size()] == '/') path.remove_prefix(well_known.size());
  return path.starts_with('.') || path.find("/.") != std::string_view::npos;
}

void fail_to_open(int error, std::string_view path) {
  switch (error) {
    case ENOENT:
    case ENOTDIR:
    case ENAMETOOLONG:
    case ELOOP:
    case EXDEV:  // it leads out of the directory
    case ENXIO:
      throw status_error(404);
    case EACCES:
    case EPERM:
      throw status_error(403);
    case EMFILE:
    case ENFILE:
      throw status_error(503);
    default:
      throw io_error({error, std::generic_category()}, "open", path);
  }
}

}  // namespace gyre::http
