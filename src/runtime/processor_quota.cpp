// src/runtime/processor_quota.cpp: finds the groups of this process in the mounted cgroup file systems. cgroups(7)
#include "processor_quota.hpp"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace gyre {
namespace {

using words = std::vector<std::string_view>;

// The parts between separators. Empty parts are left out.
words split(std::string_view text, char separator) {
  words parts;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(separator), text.size());
    if (end > 0) parts.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

bool contains(const words& list, std::string_view word) { return std::ranges::find(list, word) != list.end(); }

template <class Number>
std::optional<Number> number_of(std::string_view text) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::string first_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

// mountinfo writes spaces, tabs, line ends and backslashes as \040, \011, \012 and \134.
std::string unescaped(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const std::string_view digits = text.substr(1, 3);
    unsigned code = 0;
    if (text[0] == '\\' && digits.size() == 3 &&
        std::from_chars(digits.data(), digits.data() + 3, code, 8).ptr == digits.data() + 3) {
      result += static_cast<char>(code);
      text.remove_prefix(4);
    } else {
      result += text[0];
      text.remove_prefix(1);
    }
  }
  return result;
}

enum class version : std::uint8_t { v1, v2 };

/// A cgroup file system that can have quotas.
struct cgroup_mount {
  version kind;
  std::string group;  // the group that its top directory shows
  std::string point;  // where it is mounted
};

std::optional<version> kind_of(std::string_view type, std::string_view options) {
  if (type == "cgroup2") return version::v2;
  if (type == "cgroup" && contains(split(options, ','), "cpu")) return version::v1;
  return std::nullopt;
}

// A line: 36 35 98:0 GROUP POINT rw,noatime [optional fields] - TYPE SOURCE OPTIONS. See proc_pid_mountinfo(5).
std::vector<cgroup_mount> read_mounts(const std::string& root) {
  std::vector<cgroup_mount> mounts;
  std::ifstream file(root + "/proc/self/mountinfo");
  for (std::string line; std::getline(file, line);) {
    const words fields = split(line, ' ');
    if (fields.size() < 10) continue;
    const auto dash = std::find(fields.begin() + 6, fields.end(), "-");
    if (fields.end() - dash < 4) continue;
    std::string point = unescaped(fields[4]);
    std::erase_if(mounts, [&](const cgroup_mount& earlier) { return earlier.point == point; });  // it is covered
    if (const auto kind = kind_of(dash[1], dash[3])) mounts.push_back({*kind, unescaped(fields[3]), std::move(point)});
  }
  return mounts;
}

/// The group of this process in each version.
struct own_groups {
  std::optional<std::string> v1;
  std::optional<std::string> v2;
};

// A line: ID:CONTROLLERS:PATH. Version 2 has the ID 0 and no controllers. A path may contain colons.
own_groups read_own_groups(const std::string& root) {
  own_groups own;
  std::ifstream file(root + "/proc/self/cgroup");
  for (std::string line; std::getline(file, line);) {
    const std::string_view text = line;
    const std::size_t first = text.find(':');
    const std::size_t second = first == std::string_view::npos ? first : text.find(':', first + 1);
    if (second == std::string_view::npos) continue;
    const std::string_view controllers = text.substr(first + 1, second - first - 1);
    if (text.substr(0, first) == "0" && controllers.empty()) own.v2 = text.substr(second + 1);
    if (contains(split(controllers, ','), "cpu")) own.v1 = text.substr(second + 1);
  }
  return own;
}

// The names that lead from the top of a mount to a group. Both paths are relative to the cgroup namespace of this
// process; what is outside begins with "/..". Returns nothing when the mount shows neither the group nor an ancestor.
std::optional<words> names_below(std::string_view top, std::string_view group) {
  const words above = split(top, '/');
  const words names = split(group, '/');
  const auto [rest_above, rest] = std::ranges::mismatch(above, names);
  if (rest_above != above.end()) {
    // The top is outside of the namespace. If it is an ancestor, the names of the groups in between are unknown.
    const bool ancestor = std::all_of(rest_above, above.end(), [](std::string_view name) { return name == ".."; });
    return ancestor ? std::optional(words()) : std::nullopt;
  }
  words below(rest, names.end());
  if (contains(below, "..")) return std::nullopt;
  return below;
}

// In cores. The kernel says "max", or -1, when there is no quota.
std::optional<double> quota_in(const std::string& directory, version kind) {
  std::string quota;
  std::string period;
  if (kind == version::v2) {
    const std::string line = first_line(directory + "/cpu.max");
    const words both = split(line, ' ');
    if (both.size() != 2) return std::nullopt;
    quota = both[0];
    period = both[1];
  } else {
    quota = first_line(directory + "/cpu.cfs_quota_us");
    period = first_line(directory + "/cpu.cfs_period_us");
  }
  const auto granted = number_of<std::int64_t>(quota);
  const auto interval = number_of<std::int64_t>(period);
  if (!granted || !interval || *granted <= 0 || *interval <= 0) return std::nullopt;
  return static_cast<double>(*granted) / static_cast<double>(*interval);
}

std::uint64_t throttled_in(const std::string& directory) {
  std::ifstream file(directory + "/cpu.stat");
  for (std::string line; std::getline(file, line);) {
    const words fields = split(line, ' ');
    if (fields.size() == 2 && fields[0] == "nr_throttled") return number_of<std::uint64_t>(fields[1]).value_or(0);
  }
  return 0;
}

}  // namespace

processor_quotas read_processor_quotas(const std::string& root) {
  processor_quotas found;
  const own_groups own = read_own_groups(root);
  for (const cgroup_mount& mount : read_mounts(root)) {
    const std::optional<std::string>& group = mount.kind == version::v2 ? own.v2 : own.v1;
    if (!group) continue;
    const std::optional<words> names = names_below(mount.group, *group);
    if (!names) continue;
    std::string directory = mount.point;
    for (auto next = names->begin();; ++next) {  // from the top of the mount to the group itself
      if (const auto cores = quota_in(root + directory, mount.kind)) {
        if (!found.tightest || *cores < found.tightest->cores) found.tightest = {*cores, directory};
        found.throttled = std::max(found.throttled, throttled_in(root + directory));
      }
      if (next == names->end()) break;
      directory.append("/").append(*next);
    }
  }
  return found;
}

}  // namespace gyre
