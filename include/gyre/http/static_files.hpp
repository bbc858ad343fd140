// gyre/http/static_files.hpp: the files of a directory, as they are.
#pragma once

#include <gyre/attributes.hpp>
#include <gyre/coro/task.hpp>
#include <gyre/http/handler.hpp>
#include <gyre/http/request.hpp>
#include <gyre/http/response.hpp>
#include <gyre/io/owned_fd.hpp>

#include <cstdint>
#include <string>
#include <string_view>

namespace gyre::http {

struct found_file;
struct open_file;

struct static_files_options {
  std::string index = "index.html";  ///< what a directory is answered with, if it has that; empty: nothing
  /// A directory without an index is answered with a list of its entries: at most 20,000, found among the first 100,000
  /// names. Where names are missing the answer has the field "X-Listing-Truncated: true".
  /// All requests share one reading of a directory for a second, unless an entry has come or gone; the sizes and times of files
  /// may be a second old. At most two directories are read at a time. 503 while responses that are being sent hold 64 MiB of lists.
  bool listing = false;
  bool hidden = false;  ///< files and directories whose names begin with a dot are served, too
  /// "style.css.br", ".zst" and ".gz" beside a file are sent in its place to clients that take them.
  bool precompressed = true;
  std::string fallback = {};  ///< for pages that are not there: "index.html" of an application that routes by itself
  std::string cache_control = {};  ///< of the field Cache-Control; empty: none
  /// Files that are asked for stay open for a second, 128 of them at most: so long it may take until a path that leads to
  /// another file, or a compressed neighbour that is new, is noticed. A file that was written to, replaced by a rename or
  /// removed is noticed at once.
  bool keep_open = true;
};

/// Serves the files below a directory: `routes.get("/assets/{path...}", http::static_files("public"))`.
///
/// The path is what "{path...}" stands for, else that of the request. Nothing outside of the directory is
/// served, whatever the path or a symbolic link says; links that stay inside are followed. Types go by the extension;
/// conditional requests and ranges are answered; files are not copied through this program. A directory without a slash
/// at the end is a redirect, and so is a path with a slash too many. A path with "." or ".." is not there, also where they
/// are encoded: routes compare paths as they are sent, and what stands around one of them is not got past.
/// 404 for what is not there, 403 for what must not be read.
/// Thread: that of its server.
class GYRE_API static_files {
 public:
  /// Errors: io_error "open public: No such file or directory".
  explicit static_files(std::string_view root, static_files_options options = {});

  /// Answers a request. Cancel: nothing has happened. Errors: io_error when a file cannot be read; status_error.
  [[nodiscard]] task<response> operator()(request& r) const;
  /// The same for servers: what is open already is answered at once. Errors: as above.
  [[nodiscard]] started_response start(request& r) const;

 private:
  [[nodiscard]] task<response> serve_directory(request& r, owned_fd directory, std::string path) const;
  [[nodiscard]] task<response> serve_missing(request& r, int error) const;
  [[nodiscard]] task<response> serve_regular(request& r, std::string path, found_file file) const;
  [[nodiscard]] task<response> serve_open(request& r, std::string path, open_file plain) const;
  [[nodiscard]] task<open_file> open(request& r, std::string path) const;
  [[nodiscard]] task<open_file> open_compressed(request& r, const std::string& path, std::string_view& coding) const;

  owned_fd root_;
  std::uint64_t number_;  // among all trees of the program
  static_files_options options_;
};

/// Answers a request with one file: its type, conditions, ranges. For handlers that have decided which.
///
/// Lifetime: the path is copied. Cancel: nothing has happened. Errors: status_error with 404 or 403; io_error.
[[nodiscard]] GYRE_API task<response> file_response(request& r, std::string path);

}  // namespace gyre::http
