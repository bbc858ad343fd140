// programs/gyre/doctor.cpp: reports what gyre can use on this machine, and why.
#include "programs/gyre/doctor.hpp"

#include "programs/common/standard_output.hpp"

#include <gyre/io/backend_choice.hpp>
#include <gyre/io/printable.hpp>
#include <gyre/io/uring.hpp>
#include <gyre/net/kernel_encryption.hpp>
#include <gyre/runtime/usable_cores.hpp>
#include <gyre/version.hpp>

#include <fmt/format.h>

#include <sys/resource.h>
#include <sys/utsname.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <stdexcept>
#include <string>
#include <string_view>

namespace programs {
namespace {

class report {
 public:
  void line(std::string_view name, std::string_view value) {
    text_ += fmt::format("{:<18}{}\n", fmt::format("{}:", name), gyre::printable(value));
  }
  [[nodiscard]] const std::string& text() const noexcept { return text_; }

 private:
  std::string text_;
};

std::string first_line(const char* path) {
  std::ifstream file(path);
  std::string text;
  std::getline(file, text);
  return text;
}

std::string sysctl_text() {
  const std::string value = first_line("/proc/sys/kernel/io_uring_disabled");
  if (value == "0") return "kernel.io_uring_disabled = 0 (everybody may use it)";
  if (value == "1") return "kernel.io_uring_disabled = 1 (only root and the group kernel.io_uring_group)";
  if (value == "2") return "kernel.io_uring_disabled = 2 (nobody)";
  return "kernel.io_uring_disabled is not there (kernel before 6.6, or hidden)";
}

std::string seccomp_text(const gyre::io::backend_choice& choice) {
  std::ifstream status("/proc/self/status");
  std::string word;
  std::string mode = "unknown";
  while (status >> word)
    if (word == "Seccomp:") status >> mode;
  if (mode == "0") return "no filter";
  const bool denied = choice.error == EPERM || choice.error == EACCES || choice.error == ENOSYS;
  return fmt::format("mode {}: a filter is active, and {}", mode,
                     denied ? "io_uring was denied" : "it allows io_uring");
}

std::string limit_text(int resource, const char* unit) {
  rlimit limit{};
  if (::getrlimit(static_cast<__rlimit_resource>(resource), &limit) != 0) return "unknown";
  const auto text = [&](rlim_t value) {
    return value == RLIM_INFINITY ? std::string("unlimited") : fmt::format("{} {}", value, unit);
  };
  return fmt::format("{} (hard limit {})", text(limit.rlim_cur), text(limit.rlim_max));
}

std::string features_text() {
  gyre::uring::ring ring;
  gyre::uring::capabilities found;
  gyre::uring::refusal refused = gyre::uring::open_ring(ring, {.completion_entries = 1024});
  if (refused.error == 0) refused = gyre::uring::self_test(ring).run(found);
  if (refused.error != 0) return fmt::format("none: {} failed: {}", refused.step, std::strerror(refused.error));
  std::string text;
  const auto add = [&](bool has, const char* name) {
    text += fmt::format("{}{}{}", text.empty() ? "" : ", ", has ? "" : "no ", name);
  };
  add(found.multishot_accept, "multishot accept");
  add(found.multishot_receive, "multishot receive with provided buffers");
  add(found.registered_descriptor, "registered ring descriptor");
  add(found.no_iowait, "waiting without iowait");
  add(found.no_submission_array, "no submission array");
  return text;
}

std::string cores_text(const gyre::core_count& count) {
  const std::string quota =
      count.quota ? fmt::format("the quota of {} allows {:.4g}", count.quota_group, *count.quota) : "no cgroup quota";
  return fmt::format("{} usable{}: the affinity mask allows {}, {}", count.cores,
                     count.limited_by == "GYRE_THREADS" ? " (set by GYRE_THREADS)" : "", count.by_affinity, quota);
}

// Returns false if the environment is wrong.
bool report_cores(report& out) {
  try {
    const gyre::core_count count = gyre::explain_usable_cores();
    out.line("cores", cores_text(count));
    if (count.throttled > 0)
      out.line("throttled", fmt::format("in {} periods the quota was used up, and all threads had to wait: use fewer "
                                        "threads, or raise the quota",
                                        count.throttled));
    return true;
  } catch (const std::invalid_argument& error) {
    out.line("cores", error.what());
    return false;
  }
}

// Returns false if the environment is wrong.
bool report_kernel_tls(report& out) {
  try {
    out.line("kernel TLS", gyre::kernel_encryption().reason);
    return true;
  } catch (const std::invalid_argument& error) {
    out.line("kernel TLS", error.what());
    return false;
  }
}

}  // namespace

int doctor() {
  utsname system{};
  ::uname(&system);
  gyre::io::backend_choice choice;
  const gyre::io::backend_owner made = gyre::io::make_backend({}, choice);
  const char* const wish = std::getenv("GYRE_BACKEND");

  report out;
  out.line("gyre", gyre::version_string);
  out.line("kernel", fmt::format("{} {} {}", system.sysname, system.release, system.machine));
  const bool counted = report_cores(out);
  out.line("sysctl", sysctl_text());
  out.line("seccomp", seccomp_text(choice));
  out.line("locked memory", limit_text(RLIMIT_MEMLOCK, "bytes"));
  out.line("descriptors", limit_text(RLIMIT_NOFILE, "files"));
  out.line("io_uring features", features_text());
  const bool chosen = report_kernel_tls(out);
  out.line("GYRE_BACKEND", wish == nullptr ? "not set (auto)" : wish);
  out.line("backend", made ? made->name() : "none");
  out.line("reason", choice.reason);
  return print_result(out.text()) && made && counted && chosen ? 0 : 1;
}

}  // namespace programs
