// gyre/io/owned_fd.hpp: a file descriptor that its owner closes on destruction.
#pragma once

#include <gyre/attributes.hpp>

#include <utility>

namespace gyre {

/// Owns a file descriptor, or none (-1). Thread: any, one at a time.
class GYRE_API owned_fd {
 public:
  owned_fd() noexcept = default;
  explicit owned_fd(int fd) noexcept : fd_(fd) {}
  owned_fd(owned_fd&& other) noexcept : fd_(other.release()) {}
  owned_fd& operator=(owned_fd&& other) noexcept {
    owned_fd moved(std::move(other));
    std::swap(fd_, moved.fd_);
    return *this;
  }
  ~owned_fd() { close(); }
  /// Returns a close-on-exec duplicate, or sets errno and owns none.
  [[nodiscard]] static owned_fd duplicate_of(int fd) noexcept;

  [[nodiscard]] int get() const noexcept { return fd_; }
  explicit operator bool() const noexcept { return fd_ >= 0; }
  /// Gives up ownership: the caller closes the descriptor.
  [[nodiscard]] int release() noexcept { return std::exchange(fd_, -1); }
  void close() noexcept;

 private:
  int fd_ = -1;
};

}  // namespace gyre
