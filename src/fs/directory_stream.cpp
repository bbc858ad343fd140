// src/fs/directory_stream.cpp: getdents64(2).
#include <gyre/fs/directory_stream.hpp>
#include <gyre/io/io_error.hpp>
#include <gyre/io/kernel.hpp>

#include "directory_records.hpp"

#include <fcntl.h>

#include <cerrno>

namespace gyre::fs {
namespace {

constexpr std::size_t buffer_size = std::size_t{32} * 1024;

[[noreturn]] void fail_to_list() { throw io_error({errno, std::generic_category()}, "list", "the directory"); }

}  // namespace

directory_stream::directory_stream(int directory)
    : open_(io::files().openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0)) {
  if (!open_) fail_to_list();
  buffer_.resize(buffer_size);
}

const char* directory_stream::next() {
  for (directory_record each;;) {
    if (take_record(rest_, each)) {
      if (each.is_dots()) continue;
      name_ = each.name.data();
      kind_ = each.kind;
      return name_;
    }
    const std::ptrdiff_t size = io::files().getdents64(open_.get(), buffer_.data(), buffer_.size());
    if (size < 0) fail_to_list();
    if (size == 0) return nullptr;
    rest_ = std::span(buffer_).first(static_cast<std::size_t>(size));
  }
}

std::optional<file_facts> directory_stream::facts() const noexcept {
  struct stat found{};
  if (io::files().fstatat(open_.get(), name_, &found, AT_SYMLINK_NOFOLLOW) < 0) return {};
  return facts_of_status(found);
}

}  // namespace gyre::fs
