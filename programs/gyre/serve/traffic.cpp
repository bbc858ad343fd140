// programs/gyre/serve/traffic.cpp: counters, and their text format.
#include "programs/gyre/serve/traffic.hpp"

#include <fmt/format.h>

#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>

namespace programs {
namespace {

void describe(std::string& out, std::string_view name, std::string_view kind, std::string_view help) {
  fmt::format_to(std::back_inserter(out), "# HELP {} {}\n# TYPE {} {}\n", name, help, name, kind);
}

// Each counter has one writer, so no locked instruction is needed.
void increase(std::atomic<std::uint64_t>& counter, std::uint64_t by) noexcept {
  counter.store(counter.load(std::memory_order_relaxed) + by, std::memory_order_relaxed);
}
std::uint64_t value(const std::atomic<std::uint64_t>& counter) noexcept {
  return counter.load(std::memory_order_relaxed);
}

}  // namespace

void traffic::count(int status, std::uint64_t body_bytes, std::chrono::nanoseconds duration) noexcept {
  const int index = std::clamp(status - lowest, 0, static_cast<int>(statuses) - 1);
  increase(by_status_[static_cast<std::size_t>(index)], 1);
  const double seconds = std::chrono::duration<double>(duration).count();
  const auto bucket = std::lower_bound(bounds.begin(), bounds.end(), seconds) - bounds.begin();
  increase(by_duration_[static_cast<std::size_t>(bucket)], 1);
  increase(nanoseconds_, static_cast<std::uint64_t>(duration.count()));
  increase(bytes_, body_bytes);
}

void traffic::add(const traffic& other) noexcept {
  for (std::size_t i = 0; i < by_status_.size(); ++i) increase(by_status_[i], value(other.by_status_[i]));
  for (std::size_t i = 0; i < by_duration_.size(); ++i) increase(by_duration_[i], value(other.by_duration_[i]));
  increase(nanoseconds_, value(other.nanoseconds_));
  increase(bytes_, value(other.bytes_));
}

std::string traffic::text() const {
  std::string out;
  const auto line = std::back_inserter(out);
  describe(out, "http_requests_total", "counter", "Requests that were answered, by status.");
  for (std::size_t i = 0; i < by_status_.size(); ++i)
    if (const auto count = value(by_status_[i]); count != 0)
      fmt::format_to(line, "http_requests_total{{code=\"{}\"}} {}\n", static_cast<int>(i) + lowest, count);
  describe(out, "http_request_duration_seconds", "histogram",
           "From the end of a request's head to the end of its response.");
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < bounds.size(); ++i)
    fmt::format_to(line, "http_request_duration_seconds_bucket{{le=\"{}\"}} {}\n", bounds[i],
                   sum += value(by_duration_[i]));
  sum += value(by_duration_.back());
  fmt::format_to(line, "http_request_duration_seconds_bucket{{le=\"+Inf\"}} {}\n", sum);
  fmt::format_to(line, "http_request_duration_seconds_sum {}\n", static_cast<double>(value(nanoseconds_)) / 1e9);
  fmt::format_to(line, "http_request_duration_seconds_count {}\n", sum);
  describe(out, "http_response_body_bytes_total", "counter", "Bytes of bodies that were handed to the kernel.");
  fmt::format_to(line, "http_response_body_bytes_total {}\n", value(bytes_));
  return out;
}

std::string process_metrics(std::uint64_t open_descriptors) {
  std::string out;
  const auto line = std::back_inserter(out);
  rusage used{};
  ::getrusage(RUSAGE_SELF, &used);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6;
  };
  describe(out, "process_cpu_seconds_total", "counter", "User and system time.");
  fmt::format_to(line, "process_cpu_seconds_total {}\n", seconds(used.ru_utime) + seconds(used.ru_stime));
  std::uint64_t pages = 0;
  std::uint64_t resident = 0;
  std::ifstream("/proc/self/statm") >> pages >> resident;
  describe(out, "process_resident_memory_bytes", "gauge", "Resident memory.");
  fmt::format_to(line, "process_resident_memory_bytes {}\n",
                 resident * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE)));
  describe(out, "process_open_fds", "gauge", "Open descriptors.");
  fmt::format_to(line, "process_open_fds {}\n", open_descriptors);
  return out;
}

// Since Linux 6.2, the size of the directory is their number. Listing it takes a microsecond per descriptor.
std::uint64_t counted_descriptors() noexcept {
  struct stat status{};
  return ::stat("/proc/self/fd", &status) == 0 ? static_cast<std::uint64_t>(status.st_size) : 0;
}

std::uint64_t count_descriptors() {
  std::error_code none;
  return static_cast<std::uint64_t>(std::distance(std::filesystem::directory_iterator("/proc/self/fd", none), {}));
}

}  // namespace programs
