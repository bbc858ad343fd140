// gyre/http/static_files.hpp: serves the files of a directory.
#pragma once

#include <gyre/attributes.hpp>
#include <gyre/coro/owned.hpp>
#include <gyre/coro/task.hpp>
#include <gyre/http/handler.hpp>
#include <gyre/http/request.hpp>
#include <gyre/http/response.hpp>
#include <gyre/io/owned_fd.hpp>

#include <string>
#include <string_view>

namespace gyre::fs {
struct found_file;
}  // namespace gyre::fs

namespace gyre::http {

struct open_file;
struct opened_root;
class served_root;

struct static_files_options {
  std::string index = "index.html";  ///< the file that answers for its directory; empty means none
  /// A directory without an index is answered with a list of its entries: at most 20,000, found among the first 100,000
  /// names. An incomplete list has the field "X-Listing-Truncated: true".
  /// All requests share one reading of a directory for a second, unless an entry is added or removed; the sizes and
  /// times of files may be a second old. At most two directories are read at a time. Answers 503 while responses that
  /// are being sent hold 64 MiB of lists.
  bool listing = false;
  /// Serves files and directories whose names begin with a dot, too. "/.well-known/" (RFC 8615) is always served.
  bool hidden = false;
  /// Sends "style.css.br" (or .zst, .gz), if it is next to "style.css", to clients that accept it.
  bool precompressed = true;
  /// The file for missing pages: "index.html" of an application that routes in the browser. Clients that do not prefer
  /// HTML (Accept), such as a script that fetches data, get 404 all the same.
  std::string fallback = {};
  std::string cache_control = {};  ///< the Cache-Control field; empty means none
  /// Keeps up to 128 requested files open for a second. So it may take a second to notice that a path leads to another
  /// file, or that a compressed file is new. A file that was written to, replaced by a rename or removed is noticed at
  /// once.
  bool keep_open = true;
};

/// Serves the files below a directory: `routes.get("/assets/{path...}", http::static_files("public"))`.
///
/// The path is the part that "{path...}" matched, otherwise the path of the request. Nothing outside of the directory
/// is served, whatever the path or a symbolic link says; links to places inside are followed, absolute ones too. The
/// extension gives the media type. Conditional requests and ranges are answered. Files are not copied through this
/// program. A directory without a trailing slash is a redirect, and so is a path with a superfluous slash.
/// A path with "." or ".." gets 404, even if they are encoded. Routes do not resolve dots, so such a path could
/// otherwise get past the middleware of a route.
/// The directory may be replaced while it is served, by a link that leads elsewhere or by another directory of that
/// name: within a second, files of the new one are served. A relative `root` is made absolute at construction.
/// 404 for missing files, 403 for files that must not be read. A directory whose index must not be read, or lies
/// outside, gets 403 and no list.
/// Thread: any, at the same time, in the handlers of servers.
class GYRE_API static_files : public prompt_handler<static_files> {
 public:
  /// Errors: io_error "open public: No such file or directory"; std::invalid_argument for an index that is no file
  /// name, a fallback outside of the directory, or a cache_control with a control character.
  explicit static_files(std::string_view root, static_files_options options = {});

  /// Starts to answer a request. The response is there at once if the file is already open. To await it, call the
  /// object: `co_await files(request)`. Cancel: no effects. Errors: io_error when a file cannot be read; status_error.
  [[nodiscard]] started_response start(request& r) const;

 private:
  [[nodiscard]] served_root& root() const noexcept;
  [[nodiscard]] task<response> serve(request& r) const;
  [[nodiscard]] task<response> serve_known(request& r, std::string path, open_file plain) const;
  [[nodiscard]] task<response> serve_directory(request& r, const opened_root& root, owned_fd directory,
                                               std::string path) const;
  [[nodiscard]] task<response> serve_missing(request& r, const opened_root& root, int error) const;
  [[nodiscard]] task<response> serve_regular(request& r, const opened_root& root, std::string path,
                                             fs::found_file file) const;
  [[nodiscard]] task<response> serve_open(request& r, const opened_root& root, std::string path, open_file plain) const;
  [[nodiscard]] task<open_file> open(request& r, const opened_root& root, std::string path) const;
  [[nodiscard]] task<open_file> open_compressed(request& r, const opened_root& root, const std::string& path,
                                                std::string_view& coding) const;

  static void destroy(served_root* root) noexcept;
  owned<served_root*, &destroy> root_;
  static_files_options options_;
};

/// Answers a request with one file, with its media type, conditions and ranges. For handlers that choose the file
/// themselves, by a path that is not made of parts of the request: a parameter may be "../../etc/passwd" (sent with
/// "%2f"), or an absolute path. Use file_response_below for those.
///
/// Lifetime: the path is copied. Cancel: no effects. Errors: status_error with 404 or 403; io_error.
[[nodiscard]] GYRE_API task<response> file_response(request& r, std::string path);

/// The same for a path below the directory `root`, which may come from the request:
///
///   co_return co_await http::file_response_below(request, "uploads", std::string(request.path_parameter("name")));
///
/// A path or a link that leads out of `root` gets 404, and so do an absolute path, a directory, and a name that begins
/// with a dot (see static_files_options::hidden).
///
/// Lifetime: the paths are copied. Cancel: no effects. Errors: status_error with 404, 403 or 503; io_error "open
/// uploads: No such file or directory".
[[nodiscard]] GYRE_API task<response> file_response_below(request& r, std::string root, std::string path);

}  // namespace gyre::http
