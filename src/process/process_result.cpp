// src/process/process_result.cpp: a process result that an exception carries.
#include <gyre/process/process_result.hpp>

#include <atomic>
#include <cstddef>
#include <utility>

namespace gyre {

/// Shared by copies of an exception, because copying must not fail. The copies may be on several threads.
class kept_result {
 public:
  explicit kept_result(process_result result) noexcept : result_(std::move(result)) {}

  [[nodiscard]] const process_result& result() const noexcept { return result_; }
  kept_result* share() noexcept {
    owners_.fetch_add(1, std::memory_order_relaxed);
    return this;
  }
  void drop() noexcept {
    if (owners_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }

 private:
  ~kept_result() = default;

  process_result result_;
  std::atomic<std::size_t> owners_{1};
};

process_timed_out::process_timed_out(std::chrono::nanoseconds limit, std::string_view subject, process_result result)
    : timed_out(limit, subject), kept_(new kept_result(std::move(result))) {}

process_timed_out::process_timed_out(const process_timed_out& other) noexcept
    : timed_out(other), kept_(other.kept_->share()) {}

process_timed_out& process_timed_out::operator=(const process_timed_out& other) noexcept {
  if (this == &other) return *this;
  timed_out::operator=(other);
  kept_->drop();
  kept_ = other.kept_->share();
  return *this;
}

process_timed_out::~process_timed_out() { kept_->drop(); }

const process_result& process_timed_out::result() const noexcept { return kept_->result(); }

}  // namespace gyre
