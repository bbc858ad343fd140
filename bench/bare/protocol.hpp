// bench/bare/protocol.hpp: what a bare loop answers: an echo, or PONG for each PING, whole ones only.
#pragma once

#include <cstddef>
#include <cstring>
#include <string>
#include <string_view>

namespace bare {

/// Sends back what came.
struct echo {
  static constexpr const char* word = "echo";
  std::string_view answer(std::string_view input, std::string& /*scratch*/) { return input; }
};

/// RESP PING, inline or as an array. A request that is cut in two is counted when its end has come.
struct ping {
  static constexpr const char* word = "resp";
  std::string partial;

  std::string_view answer(std::string_view input, std::string& scratch) {
    scratch.clear();
    if (!partial.empty()) {
      partial.append(input);
      input = partial;
    }
    while (!input.empty()) {
      const std::size_t size = request_size(input);
      if (size == 0) break;
      input.remove_prefix(size);
      scratch += "+PONG\r\n";
    }
    partial = std::string(input);
    return scratch;
  }

 private:
  static std::size_t request_size(std::string_view input) {
    constexpr std::string_view array = "*1\r\n$4\r\nPING\r\n";
    if (input[0] == '*') return input.size() < array.size() ? 0 : array.size();
    const auto* const end = static_cast<const char*>(std::memchr(input.data(), '\n', input.size()));
    return end == nullptr ? 0 : static_cast<std::size_t>(end - input.data()) + 1;
  }
};

}  // namespace bare
