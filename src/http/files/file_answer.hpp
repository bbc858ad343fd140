// src/http/files/file_answer.hpp: answers a request with an open file.
#pragma once

#include <gyre/http/request.hpp>
#include <gyre/http/response.hpp>

#include "open_files.hpp"

#include <string_view>

namespace gyre::http {

struct file_answer {
  std::string_view media_type;
  std::string_view content_coding = {};  // of a file that is stored compressed
  std::string_view cache_control = {};
  bool varies = false;  // another client may get another coding
};

/// Evaluates conditions and ranges. Returns the file, a part of it, or 304, 412 or 416. RFC 9110 §13, §14.
[[nodiscard]] response answer_with_file(const request& r, const open_file& file, const file_answer& how);

}  // namespace gyre::http
