// gyre/coro/exception_group.hpp: several exceptions that happened together.
#pragma once

#include <gyre/attributes.hpp>

#include <cstddef>
#include <exception>

namespace gyre {

/// The exception that a task group, a gather or a scope throws when more than one of its tasks has failed.
///
/// Iteration yields the std::exception_ptr of each failure, in the order in which they happened. Copies share the
/// failures.
class GYRE_API exception_group : public std::exception {
 public:
  exception_group(const exception_group& other) noexcept;
  exception_group& operator=(const exception_group& other) noexcept;
  ~exception_group() override;

  [[nodiscard]] const std::exception_ptr* begin() const noexcept;
  [[nodiscard]] const std::exception_ptr* end() const noexcept;
  [[nodiscard]] std::size_t size() const noexcept { return static_cast<std::size_t>(end() - begin()); }

  /// "3 tasks failed: first message; second message; third message".
  [[nodiscard]] const char* what() const noexcept override;

 private:
  friend class exception_collector;
  struct shared;
  explicit exception_group(shared* owned) noexcept : shared_(owned) {}
  shared* shared_;
};

/// Collects failures. Throws nothing, the single failure, or a group.
class GYRE_API exception_collector {
 public:
  exception_collector() noexcept = default;
  exception_collector& operator=(exception_collector&&) = delete;
  ~exception_collector();

  /// Adds a failure. An exception object that was already added is listed once. Returns false when there was no memory
  /// for it.
  [[nodiscard]] bool add(const std::exception_ptr& failure) noexcept;
  [[nodiscard]] bool empty() const noexcept { return !first_ && others_ == nullptr; }

  /// Throws the collected failures, if any. The collector is empty afterwards.
  void rethrow();

 private:
  [[nodiscard]] bool has(const std::exception_ptr& failure) const noexcept;
  std::exception_ptr first_;
  exception_group::shared* others_ = nullptr;  // all failures, from the second one on
};

}  // namespace gyre
