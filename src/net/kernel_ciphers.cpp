// src/net/kernel_ciphers.cpp: reads /proc/crypto, whose entries are lines "name : value" up to an empty one.
#include "kernel_ciphers.hpp"

#include <algorithm>
#include <charconv>

namespace gyre {
namespace {

struct entry {
  std::string_view name;
  std::string_view driver;
  int priority = 0;
};

void take_line(entry& now, std::string_view line) noexcept {
  const std::size_t colon = line.find(": ");
  if (colon == std::string_view::npos) return;
  const std::string_view key = line.substr(0, std::min(line.find(' '), colon));
  const std::string_view value = line.substr(colon + 2);
  if (key == "name") now.name = value;
  if (key == "driver") now.driver = value;
  if (key == "priority") std::from_chars(value.data(), value.data() + value.size(), now.priority);
}

}  // namespace

std::string fastest_driver(std::string_view table, std::string_view name) {
  entry best;
  entry now;
  while (true) {
    const std::size_t end = table.find('\n');
    const std::string_view line = table.substr(0, end);
    take_line(now, line);
    const bool last = end == std::string_view::npos;
    if (line.empty() || last) {
      if (now.name == name && (best.driver.empty() || now.priority > best.priority)) best = now;
      now = {};
    }
    if (last) return std::string(best.driver);
    table.remove_prefix(end + 1);
  }
}

}  // namespace gyre
