// src/http/files/file_response.cpp: the response with one file that a handler has chosen.
#include <gyre/fs/found_file.hpp>
#include <gyre/http/static_files.hpp>
#include <gyre/http/status_error.hpp>
#include <gyre/io/io_error.hpp>

#include "file_access.hpp"
#include "file_answer.hpp"

#include <cerrno>
#include <system_error>
#include <utility>

namespace gyre::http {
namespace {

response answer_with_found(request& r, fs::found_file found, std::string_view path) {
  if (found.error != 0) fail_to_open(found.error, path);
  if (found.facts.kind != fs::file_kind::regular) throw status_error(404);
  const open_file file(std::move(found), path);
  return answer_with_file(r, file, {.media_type = file.media_type});
}

}  // namespace

task<response> file_response(request& r, std::string path) {
  fs::found_file found = co_await fs::find_anywhere(path);
  co_return answer_with_found(r, std::move(found), path);
}

task<response> file_response_below(request& r, std::string root, std::string path) {
  if (path.empty() || has_hidden_segment(path)) throw status_error(404);
  const fs::found_file directory = co_await fs::find_root(root);
  if (directory.error == EMFILE || directory.error == ENFILE) throw status_error(503);
  if (directory.error != 0) throw io_error({directory.error, std::generic_category()}, "open", root);
  fs::found_file found = co_await fs::find_below(directory.descriptor.get(), path);
  co_return answer_with_found(r, std::move(found), path);
}

}  // namespace gyre::http
