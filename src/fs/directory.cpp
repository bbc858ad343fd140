// src/fs/directory.cpp: parses the kernel's directory entries.
#include <gyre/fs/directory.hpp>

#include "directory_records.hpp"

#include <iterator>

namespace gyre::fs {
namespace {

constexpr std::size_t batch_size = std::size_t{32} * 1024;

class read_directory_op : public file_operation<read_directory_op> {
 public:
  read_directory_op(file_state& file, std::vector<std::byte>& buffer) noexcept : file_(&file) {
    code = io::opcode::read_directory;
    target = &file.descriptor();
    address = buffer.data();
    length = static_cast<std::uint32_t>(buffer.size());
  }
  void prepare() noexcept {
    file_->expect_open("read_some");
    file_->expect_own_loop("read_some");
  }
  std::expected<std::size_t, std::error_code> take_result() {
    if (result < 0) return std::unexpected(error());
    return static_cast<std::size_t>(result);
  }
  [[noreturn]] void fail(std::error_code reason) const { throw io_error(reason, "read_some", file_->path); }

 private:
  file_state* file_;
};

std::vector<directory_entry> take_apart(std::span<const std::byte> records) {
  std::vector<directory_entry> entries;
  directory_record each;
  while (take_record(records, each))
    if (!each.is_dots()) entries.push_back({std::string(each.name), each.kind, each.inode});
  return entries;
}

}  // namespace

task<directory> directory::open(std::string path) {
  file opened = co_await file::open(path, {.read = true, .directory = true});
  co_return directory(std::move(opened));
}

task<std::vector<directory_entry>> directory::read_some() {
  std::vector<std::byte> buffer(batch_size);
  for (;;) {
    const std::size_t size = co_await read_directory_op(file_.state(), buffer);
    std::vector<directory_entry> entries = take_apart(std::span<const std::byte>(buffer).first(size));
    if (size == 0 || !entries.empty()) co_return entries;
  }
}

task<std::vector<directory_entry>> list_directory(std::string path, std::size_t limit) {
  directory opened = co_await directory::open(std::move(path));
  std::vector<directory_entry> all;
  for (;;) {
    std::vector<directory_entry> batch = co_await opened.read_some();
    if (batch.empty()) co_return all;
    if (batch.size() > limit - all.size())
      throw io_error(std::make_error_code(std::errc::value_too_large), "list_directory", opened.path());
    all.insert(all.end(), std::make_move_iterator(batch.begin()), std::make_move_iterator(batch.end()));
  }
}

}  // namespace gyre::fs
