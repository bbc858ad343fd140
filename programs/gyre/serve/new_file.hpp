// programs/gyre/serve/new_file.hpp: a file that gets its name when it is complete.
#pragma once

#include <gyre/fs/file.hpp>

#include <string>

namespace programs {

/// A file without a name until it is complete, so that an interrupted upload leaves nothing behind. See O_TMPFILE in
/// open(2). All functions block.
class new_file {
 public:
  /// Errors: io_error if files cannot be created in the directory.
  explicit new_file(const std::string& directory);
  [[nodiscard]] gyre::fs::file& file() noexcept { return file_; }

  /// Returns false if a file of that name exists. Errors: io_error.
  [[nodiscard]] bool link_as(const std::string& name);
  /// Adds a number to the name if files of that name exist. Returns the name that the file got. Errors: io_error;
  /// status_error 409 if there are too many.
  [[nodiscard]] std::string keep_as(const std::string& wanted);

 private:
  [[nodiscard]] bool is_there(const std::string& wanted, int number) const;
  [[nodiscard]] int next_free(const std::string& wanted, int taken) const;

  std::string directory_;
  gyre::fs::file file_;
};

}  // namespace programs
