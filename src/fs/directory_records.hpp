// src/fs/directory_records.hpp: the entries that getdents64(2) returns.
#pragma once

#include "kind_of_mode.hpp"

#include <dirent.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

namespace gyre::fs {

/// One entry of a directory. Its name is null-terminated, and lies in the records.
struct directory_record {
  std::string_view name;
  file_kind kind = file_kind::unknown;
  std::uint64_t inode = 0;
  [[nodiscard]] bool is_dots() const noexcept { return name == "." || name == ".."; }
};

/// Takes the first entry off `records`. Returns false at their end.
// struct linux_dirent64: inode (8 bytes), offset (8), record length (2), type (1), null-terminated name.
inline bool take_record(std::span<const std::byte>& records, directory_record& into) noexcept {
  constexpr std::size_t length_at = 16;
  constexpr std::size_t type_at = 18;
  constexpr std::size_t name_at = 19;
  if (records.size() <= name_at) return false;
  std::uint16_t length = 0;
  std::memcpy(&into.inode, records.data(), sizeof(into.inode));
  std::memcpy(&length, records.data() + length_at, sizeof(length));
  if (length <= name_at || length > records.size()) return false;
  const char* const text = reinterpret_cast<const char*>(records.data() + name_at);
  into.name = std::string_view(text, ::strnlen(text, length - name_at));
  into.kind = kind_of_mode(DTTOIF(std::to_integer<unsigned>(records[type_at])));
  records = records.subspan(length);
  return true;
}

}  // namespace gyre::fs
