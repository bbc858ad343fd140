// src/http/files/served_root.cpp: opens a path again, and compares what it leads to.
#include <gyre/fs/found_file.hpp>
#include <gyre/io/io_error.hpp>

#include "served_root.hpp"

#include <cerrno>
#include <filesystem>
#include <system_error>
#include <utility>

namespace gyre::http {
namespace {

std::uint64_t next_number() noexcept {
  static std::atomic<std::uint64_t> last = 0;
  return ++last;
}

opened_root opened_from(owned_fd descriptor, const fs::file_facts& facts) {
  return {.descriptor = std::move(descriptor), .number = next_number(), .device = facts.device, .inode = facts.inode};
}

}  // namespace

served_root::served_root(std::string_view path) {
  owned_fd descriptor = fs::open_root(path);
  const auto facts = fs::facts_of(descriptor.get());
  if (!facts) throw io_error(facts.error(), "stat", path);
  path_ = std::filesystem::absolute(path).string();
  replace(opened_from(std::move(descriptor), *facts));
}

served_root::opened served_root::current() const {
  const std::lock_guard lock(mutex_);
  return current_;
}

void served_root::replace(opened_root&& with) {
  auto made = std::make_shared<const opened_root>(std::move(with));
  const std::lock_guard lock(mutex_);
  current_ = std::move(made);
  number_.store(current_->number, std::memory_order_relaxed);
}

task<served_root::opened> served_root::look_again() {
  due_.store(event_loop::current().recent() + interval, std::memory_order_relaxed);
  fs::found_file found = co_await fs::find_root(path_);
  opened known = current();
  // The number of an inode is not used again while the directory is open.
  if (found.error != 0 || (found.facts.inode == known->inode && found.facts.device == known->device)) co_return known;
  replace(opened_from(std::move(found.descriptor), found.facts));
  co_return current();
}

}  // namespace gyre::http
