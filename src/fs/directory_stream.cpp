// src/fs/directory_stream.cpp: readdir(3).
#include <gyre/fs/directory_stream.hpp>
#include <gyre/io/io_error.hpp>
#include <gyre/io/owned_fd.hpp>

#include "kind_of_mode.hpp"

#include <dirent.h>
#include <fcntl.h>

#include <cerrno>
#include <string_view>

namespace gyre::fs {
namespace {

[[noreturn]] void fail_to_list() { throw io_error({errno, std::generic_category()}, "list", "the directory"); }

}  // namespace

directory_stream::directory_stream(int directory) {
  owned_fd own(::openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (own) open_ = ::fdopendir(own.get());
  if (open_ == nullptr) fail_to_list();
  (void)own.release();
}

directory_stream::~directory_stream() { ::closedir(static_cast<DIR*>(open_)); }

const char* directory_stream::next() {
  for (;;) {
    errno = 0;
    const dirent* const each = ::readdir(static_cast<DIR*>(open_));
    if (each == nullptr && errno != 0) fail_to_list();
    if (each == nullptr) return nullptr;
    name_ = each->d_name;
    kind_ = kind_of_mode(DTTOIF(unsigned{each->d_type}));
    if (const std::string_view name = name_; name != "." && name != "..") return name_;
  }
}

std::optional<file_facts> directory_stream::facts() const noexcept {
  struct stat found{};
  if (::fstatat(::dirfd(static_cast<DIR*>(open_)), name_, &found, AT_SYMLINK_NOFOLLOW) < 0) return {};
  return facts_of_status(found);
}

}  // namespace gyre::fs
