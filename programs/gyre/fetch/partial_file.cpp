// programs/gyre/fetch/partial_file.cpp: names, locks and modes of the files of a download.
#include "programs/gyre/fetch/partial_file.hpp"

#include "programs/gyre/fetch/fetch_failure.hpp"
#include "programs/gyre/fetch/partial_facts.hpp"

#include <gyre/io/io_error.hpp>
#include <gyre/io/random_bytes.hpp>

#include <fmt/format.h>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <system_error>
#include <utility>

namespace programs {
namespace {

[[noreturn]] void fail(const char* operation, const std::string& path) {
  throw output_failure(fmt::format("{} {}: {}", operation, path, std::generic_category().message(errno)));
}

// False when another download is writing it. A file system may have no locks.
bool lock(int file) noexcept { return ::flock(file, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK; }

// False when somebody has removed, renamed or replaced it since it was opened.
bool is_still_at(const std::string& path, int file) noexcept {
  struct stat here{};
  struct stat there{};
  return ::fstat(file, &here) == 0 && ::lstat(path.c_str(), &there) == 0 && here.st_ino == there.st_ino &&
         here.st_dev == there.st_dev;
}

}  // namespace

partial_file::partial_file(std::string path)
    : path_(std::move(path)), part_(path_ + ".part"), from_(path_ + ".part.from"), before_(look_at(path_)) {}

partial_file::~partial_file() {
  if (is_temporary_ || (lock_ && !is_still_at(part_, lock_.get()))) remove();
}

void partial_file::find(std::string_view url) {
  if (is_in_place()) return;
  gyre::owned_fd opened(::open(part_.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK | O_NOFOLLOW));
  if (!opened || !claim(std::move(opened))) return;
  const auto facts = partial_facts::read(from_);
  struct stat found{};
  if (!facts || facts->url != url || facts->validator.empty() || ::fstat(lock_.get(), &found) != 0) return;
  validator_ = facts->validator;
  total_ = facts->total;
  size_ = static_cast<std::uint64_t>(found.st_size);
}

// An earlier download has left it, and nobody else is writing it.
bool partial_file::claim(gyre::owned_fd opened) {
  struct stat here{};
  if (::fstat(opened.get(), &here) != 0 || !S_ISREG(here.st_mode) || here.st_uid != ::geteuid() || here.st_nlink != 1)
    return false;
  if (!lock(opened.get()) || !partial_facts::read(from_)) return false;
  // A download that has ended meanwhile has given it its name.
  if (!is_still_at(part_, opened.get())) return false;
  take(std::move(opened));
  return true;
}

bool partial_file::start_over() noexcept {
  size_ = is_in_place() && !can_rewind_ ? size_ : 0;
  validator_.clear();
  return size_ == 0;
}

bool partial_file::is_same_version(const gyre::http::client_response& response, std::uint64_t total) const {
  if (total_ && *total_ != total) return false;
  if (validator_.starts_with('"')) return response.field("ETag") == validator_;
  const std::string_view changed = response.field("Last-Modified");  // may be left out
  return changed.empty() || changed == validator_;
}

int partial_file::create_at(const std::string& path) const {
  return ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, before_.mode);
}

void partial_file::create() {
  struct stat found{};
  const bool is_there = ::lstat(from_.c_str(), &found) == 0;
  // Its name, which is the longest, may be too long.
  const bool can_have_facts = is_there ? partial_facts::read(from_).has_value() : errno != ENAMETOOLONG;
  if (!is_temporary_ && can_have_facts) {
    gyre::owned_fd opened(create_at(part_));
    if (!opened && errno != EEXIST) fail("create", part_);
    // Without the lock, another download has found it beside the facts of an earlier one.
    if (opened && lock(opened.get())) return take(std::move(opened));
  }
  part_ = path_.substr(0, path_.rfind('/') + 1) + ".fetch-" + gyre::io::random_hex(8);
  gyre::owned_fd opened(create_at(part_));
  if (!opened) fail("create", part_);
  is_temporary_ = true;
  take(std::move(opened));
}

void partial_file::take(gyre::owned_fd opened) {
  lock_ = gyre::owned_fd::duplicate_of(opened.get());
  if (!lock_) fail("open", part_);
  file_ = gyre::fs::file::from_fd(opened.release(), part_);
}

gyre::task<> partial_file::begin(const gyre::http::client_response& response, std::string_view url, bool continues) {
  if (continues) co_return;
  try {
    size_ = 0;
    if (is_in_place()) {
      file_ = co_await open_in_place(path_);
      struct stat opened{};
      can_rewind_ = ::fstat(file_.native_descriptor(), &opened) == 0 && S_ISREG(opened.st_mode);
      co_return;
    }
    if (!file_.is_open()) create();
    // The old bytes are gone before the new validator is there, even if this program is killed in between.
    if (::ftruncate(lock_.get(), 0) != 0) fail("truncate", part_);
    if (before_.what == existing_file::kind::own && ::fchmod(lock_.get(), before_.mode) != 0) fail("chmod", part_);
    validator_ = strong_validator_of(response);
    total_ = response.body().length();
    if (!is_temporary_) partial_facts{.url = std::string(url), .validator = validator_, .total = total_}.write(from_);
  } catch (const gyre::io_error& error) {
    throw output_failure(error.what());
  } catch (const output_failure&) {
    discard();  // without whole facts, it would be taken for a file of somebody else
    throw;
  }
}

gyre::task<> partial_file::write(std::string_view bytes) {
  try {
    if (is_in_place())
      co_await file_.write_all(bytes);
    else
      co_await file_.write_at(bytes, size_);
    size_ += bytes.size();
  } catch (const gyre::io_error& error) {
    throw output_failure(error.what());
  }
}

gyre::task<> partial_file::complete() {
  try {
    co_await file_.close();
  } catch (const gyre::io_error& error) {
    throw output_failure(error.what());
  }
  if (is_in_place()) co_return;
  if (look_at(path_).what == existing_file::kind::other)
    throw output_failure(fmt::format("{} has become something else than an ordinary file meanwhile", path_));
  if (!is_still_at(part_, lock_.get()))
    throw output_failure(fmt::format("{} has been removed or replaced meanwhile", part_));
  if (!is_temporary_) (void)::unlink(from_.c_str());  // first: the next download of this name may bring its own
  if (std::rename(part_.c_str(), path_.c_str()) != 0) fail("rename", part_);
  is_temporary_ = false;
  lock_.close();
}

void partial_file::remove() noexcept {
  if (!lock_) return;
  if (is_still_at(part_, lock_.get())) (void)::unlink(part_.c_str());
  if (!is_temporary_) (void)::unlink(from_.c_str());
}

void partial_file::discard() noexcept {
  remove();
  file_ = {};
  lock_.close();
  size_ = 0;
  validator_.clear();
}

}  // namespace programs
