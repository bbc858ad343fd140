// src/http/file_answer.hpp: an open file as the answer to a request.
#pragma once

#include <gyre/http/request.hpp>
#include <gyre/http/response.hpp>

#include "open_files.hpp"

#include <string_view>

namespace gyre::http {

struct file_answer {
  std::string_view media_type;
  std::string_view content_coding = {};  // of a file that is compressed already
  std::string_view cache_control = {};
  bool varies = false;  // another client may get it in another coding
};

/// Judges conditions and ranges, and gives the file, a part of it, or 304, 412, 416. RFC 9110 §13, §14.
[[nodiscard]] response answer_with_file(const request& r, const open_file& file, const file_answer& how);

}  // namespace gyre::http
