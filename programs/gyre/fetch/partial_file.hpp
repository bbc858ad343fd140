// programs/gyre/fetch/partial_file.hpp: a download that gets its name only when it is complete.
#pragma once

#include <gyre/client/client_response.hpp>
#include <gyre/coro/task.hpp>
#include <gyre/fs/file.hpp>

#include <cstdint>
#include <string>
#include <string_view>

namespace programs {

/// Writes NAME.part, and NAME.part.from with the URL and the validator of the representation. Both stay when the
/// download fails, so that it can be continued. Errors: output_failure.
class partial_file {
 public:
  explicit partial_file(std::string path);

  /// Looks for what an earlier download of this URL has left. Afterwards size() may be more than 0.
  gyre::task<> find(std::string_view url);
  /// The bytes that are there. Without a validator there are none, because they could be of something else.
  [[nodiscard]] std::uint64_t size() const noexcept { return size_; }
  /// The value for If-Range.
  [[nodiscard]] const std::string& validator() const noexcept { return validator_; }

  /// False when a part in `response` belongs to another version of the file, whatever If-Range has asked for.
  [[nodiscard]] bool is_same_version(const gyre::http::client_response& response) const;

  /// Opens the file for the body of `response`: behind the bytes that are there, or empty.
  gyre::task<> begin(const gyre::http::client_response& response, std::string_view url, bool continues);
  gyre::task<> write(std::string_view bytes);
  /// Renames it.
  gyre::task<> complete();
  /// Removes what is there.
  gyre::task<> discard();

 private:
  std::string path_;
  std::string part_;
  std::string from_;
  std::uint64_t size_ = 0;
  std::string validator_;
  gyre::fs::file file_;
};

}  // namespace programs
