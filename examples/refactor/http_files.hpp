// examples/refactor/http_files.hpp: the answers to requests, for both HTTP servers.
#pragma once

#include "http_request.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

namespace http_files {

/// Longest head of a request that is read.
inline constexpr std::size_t max_head_size = 8192;

/// The settings from the command line.
struct settings {
  std::string host = "127.0.0.1";
  std::uint16_t port = 8080;
  std::filesystem::path root;                                    // canonical
  std::chrono::nanoseconds patience = std::chrono::seconds(30);  // for a request to arrive, or for a piece to be sent
  static constexpr std::chrono::seconds drain{10};               // for requests in progress when the program has to end

  [[nodiscard]] std::string where() const { return host + ':' + std::to_string(port); }
};

/// Parses text that is a number and nothing else.
template <class T>
std::optional<T> number(std::string_view text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// Returns nothing when the arguments are invalid. Errors: std::system_error when there is no such directory.
inline std::optional<settings> read_arguments(std::span<char*> arguments) {
  settings chosen;
  std::string root = ".";
  for (std::size_t i = 1; i < arguments.size(); i += 2) {
    if (i + 1 == arguments.size()) return std::nullopt;
    const std::string_view option = arguments[i];
    const std::string_view value = arguments[i + 1];
    if (option == "--listen") {
      const std::size_t colon = value.rfind(':');
      const auto port = number<std::uint16_t>(value.substr(std::min(value.size(), colon + 1)));
      if (colon == std::string_view::npos || !port) return std::nullopt;
      chosen.host = value.substr(0, colon);
      chosen.port = *port;
    } else if (option == "--root") {
      root = value;
    } else if (option == "--idle") {
      const auto seconds = number<double>(value);
      if (!seconds || !(*seconds > 0 && *seconds <= 86'400)) return std::nullopt;
      chosen.patience = std::chrono::nanoseconds(static_cast<std::int64_t>(*seconds * 1e9));
    } else {
      return std::nullopt;
    }
  }
  chosen.root = std::filesystem::canonical(root);
  return chosen;
}

/// A regular file, read from its beginning to the end that it had when it was opened.
class open_file {
 public:
  /// Returns nothing when there is no such file below `root`. Errors: std::system_error when it cannot be opened now.
  static std::optional<open_file> find(const std::filesystem::path& root, std::string_view path) {
    std::string name(path.substr(1));
    if (name.empty() || name.ends_with('/')) name += "index.html";
    if (("/" + name + "/").contains("/../") || name.starts_with('/')) return std::nullopt;
    std::error_code error;
    const auto file =
        std::filesystem::canonical(root / name, error);  // resolves links, which could lead out of the root
    if (error || std::ranges::mismatch(root, file).in1 != root.end()) return std::nullopt;
    open_file found(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));  // no wait for a pipe
    if (found.descriptor_ < 0 && (errno == EMFILE || errno == ENFILE))
      throw std::system_error(errno, std::generic_category(), "open " + file.string());
    struct stat known{};
    if (found.descriptor_ < 0 || ::fstat(found.descriptor_, &known) != 0 || !S_ISREG(known.st_mode))
      return std::nullopt;
    found.left_ = static_cast<std::size_t>(known.st_size);
    found.extension_ = file.extension();
    return found;
  }
  open_file(open_file&& from) noexcept
      : descriptor_(std::exchange(from.descriptor_, -1)), left_(from.left_), extension_(std::move(from.extension_)) {}
  open_file& operator=(open_file&& from) noexcept {
    std::swap(descriptor_, from.descriptor_);
    left_ = from.left_;
    extension_ = std::move(from.extension_);
    return *this;
  }
  ~open_file() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }

  [[nodiscard]] std::size_t left() const noexcept { return left_; }
  [[nodiscard]] const std::string& extension() const noexcept { return extension_; }
  /// Fills the buffer, at most to the end of the file. Returns the count. Errors: std::system_error, also
  /// when the file has become shorter.
  std::size_t read(std::span<char> buffer) {
    const std::size_t wanted = std::min(buffer.size(), left_);
    for (std::size_t done = 0; done < wanted;) {
      const ssize_t n = ::read(descriptor_, buffer.data() + done, wanted - done);
      if (n <= 0) throw std::system_error(n == 0 ? EIO : errno, std::generic_category(), "read");
      done += static_cast<std::size_t>(n);
    }
    left_ -= wanted;
    return wanted;
  }

 private:
  explicit open_file(int descriptor) noexcept : descriptor_(descriptor) {}
  int descriptor_;
  std::size_t left_ = 0;
  std::string extension_;
};

inline std::string_view status_text(int status) {
  switch (status) {
    case 200:
      return "200 OK";
    case 400:
      return "400 Bad Request";
    case 404:
      return "404 Not Found";
    case 405:
      return "405 Method Not Allowed";
    default:
      return "503 Service Unavailable";
  }
}

inline std::string_view content_type(std::string_view extension) {
  using pair = std::pair<std::string_view, std::string_view>;
  constexpr std::array known{
      pair{".html", "text/html; charset=utf-8"},
      pair{".css", "text/css; charset=utf-8"},
      pair{".js", "text/javascript; charset=utf-8"},
      pair{".txt", "text/plain; charset=utf-8"},
      pair{".json", "application/json"},
      pair{".svg", "image/svg+xml"},
      pair{".png", "image/png"},
      pair{".jpg", "image/jpeg"},
  };
  const auto* const found = std::ranges::find(known, extension, &pair::first);
  return found == known.end() ? "application/octet-stream" : found->second;
}

/// An answer, produced in pieces.
class answer {
 public:
  /// A status with its text, unless the client wants no body.
  answer(int status, bool keep_alive, bool with_text = true) : keep_alive_(keep_alive) {
    const std::string text = std::string(status_text(status)) + "\n";
    next_ = head(status, text.size(), ".txt") + (with_text ? text : "");
  }
  answer(open_file file, bool keep_alive) : keep_alive_(keep_alive) {
    next_ = head(200, file.left(), file.extension());
    file_ = std::move(file);
  }

  /// Returns the next piece to send, or an empty one at the end. It is valid until the next call.
  /// Errors: same as open_file::read.
  std::string_view next_piece() {
    constexpr std::size_t piece = 65536;
    piece_ = std::exchange(next_, {});
    if (file_) {
      const std::size_t begin = piece_.size();
      piece_.resize(begin + std::min(file_->left(), piece));
      file_->read(std::span(piece_).subspan(begin));
    }
    return piece_;
  }
  [[nodiscard]] bool keep_alive() const noexcept { return keep_alive_; }

 private:
  [[nodiscard]] std::string head(int status, std::size_t length, std::string_view extension) const {
    const std::time_t now = std::time(nullptr);
    std::tm utc{};
    ::gmtime_r(&now, &utc);
    char date[64];
    std::strftime(date, sizeof date, "%a, %d %b %Y %H:%M:%S GMT", &utc);
    std::string text = "HTTP/1.1 " + std::string(status_text(status)) + "\r\nDate: " + date +
                       "\r\nContent-Type: " + std::string(content_type(extension)) +
                       "\r\nContent-Length: " + std::to_string(length) + "\r\n";
    if (status == 405) text += "Allow: GET\r\n";
    if (!keep_alive_) text += "Connection: close\r\n";
    return text + "\r\n";
  }

  std::string next_;
  std::string piece_;
  std::optional<open_file> file_;
  bool keep_alive_;
};

/// Returns the answer to the request with this head.
inline answer answer_to(std::string_view head, const std::filesystem::path& root) {
  const std::optional<request> asked = parse_head(head);
  if (!asked) return answer(400, false);
  if (asked->method != "GET") return answer(405, asked->keep_alive, asked->method != "HEAD");
  try {
    if (auto file = open_file::find(root, asked->path)) return answer(*std::move(file), asked->keep_alive);
    return answer(404, asked->keep_alive);
  } catch (const std::system_error& error) {  // other connections use all descriptors
    std::fprintf(stderr, "error: %s\n", error.what());
    return answer(503, false);
  }
}

}  // namespace http_files
