// programs/gyre/fetch/partial_file.hpp: the file of a download, which gets its name only when it is complete.
#pragma once

#include "programs/gyre/fetch/existing_file.hpp"

#include <gyre/client/client_response.hpp>
#include <gyre/coro/task.hpp>
#include <gyre/fs/file.hpp>
#include <gyre/io/owned_fd.hpp>

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace programs {

/// Writes NAME.part, which is locked meanwhile, and NAME.part.from with the URL and the validator of the
/// representation. Both stay when the download fails, so that it can be continued. If NAME.part belongs to somebody
/// else (a user, or another download that is running), or the name is too long for these files, the bytes go to a file
/// with a random name, which does not stay.
/// A path that is something else than an ordinary file is written in place, see existing_file.
///
/// Errors, of all functions: output_failure.
class partial_file {
 public:
  explicit partial_file(std::string path);
  partial_file& operator=(partial_file&&) = delete;
  ~partial_file();

  /// Looks for what an earlier download of this URL has left. Afterwards size() may be more than 0.
  void find(std::string_view url);
  /// The bytes that are there, as far as they can be continued: none without a validator, because they could be of
  /// something else.
  [[nodiscard]] std::uint64_t size() const noexcept { return size_; }
  /// The value for If-Range.
  [[nodiscard]] const std::string& validator() const noexcept { return validator_; }
  /// Makes the next download begin anew. Returns false when bytes have gone where they cannot be taken back.
  [[nodiscard]] bool start_over() noexcept;

  /// False when a part in `response`, of a representation with `total` bytes, belongs to another version of the file,
  /// whatever If-Range has asked for.
  [[nodiscard]] bool is_same_version(const gyre::http::client_response& response, std::uint64_t total) const;

  /// Prepares for the body of `response`: behind the bytes that are there, or instead of them.
  gyre::task<> begin(const gyre::http::client_response& response, std::string_view url, bool continues);
  gyre::task<> write(std::string_view bytes);
  /// Gives the file its name.
  gyre::task<> complete();
  /// Removes what is there.
  void discard() noexcept;

 private:
  [[nodiscard]] bool is_in_place() const noexcept { return before_.what == existing_file::kind::other; }
  [[nodiscard]] bool claim(gyre::owned_fd opened);
  void create();
  void take(gyre::owned_fd opened);
  [[nodiscard]] int create_at(const std::string& path) const;
  void remove() noexcept;

  std::string path_;
  std::string part_;
  std::string from_;
  existing_file before_;
  bool is_temporary_ = false;  // part_ has a random name
  bool can_rewind_ = true;
  std::uint64_t size_ = 0;
  std::string validator_;
  std::optional<std::uint64_t> total_;
  gyre::fs::file file_;
  gyre::owned_fd lock_;  // another descriptor of the file: the lock outlives close()
};

}  // namespace programs
