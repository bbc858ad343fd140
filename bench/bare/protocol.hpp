// bench/bare/protocol.hpp: the answers of a bare loop: an echo, PONG per complete PING, a page per complete GET.
#pragma once

#include <cstddef>
#include <cstring>
#include <string>
#include <string_view>

namespace bare {

/// Sends back the bytes received.
struct echo {
  static constexpr const char* word = "echo";
  std::string_view answer(std::string_view input, std::string& /*scratch*/) { return input; }
};

/// RESP PING, inline or as an array. A request that arrives in two parts counts when its end has arrived.
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

/// An HTTP request without a body. Only its end is looked for.
struct hello {
  static constexpr const char* word = "http";
  std::string partial;

  std::string_view answer(std::string_view input, std::string& scratch) {
    constexpr std::string_view page =
        "HTTP/1.1 200 OK\r\nDate: Sun, 06 Nov 1994 08:49:37 GMT\r\nContent-Type: text/plain; charset=utf-8\r\n"
        "Content-Length: 13\r\n\r\nHello, World!";
    scratch.clear();
    if (!partial.empty()) {
      partial.append(input);
      input = partial;
    }
    constexpr std::string_view end = "\r\n\r\n";
    while (!input.empty()) {
      const auto* const found = static_cast<const char*>(::memmem(input.data(), input.size(), end.data(), end.size()));
      if (found == nullptr) break;
      input.remove_prefix(static_cast<std::size_t>(found - input.data()) + end.size());
      scratch += page;
    }
    partial = std::string(input);
    return scratch;
  }
};

}  // namespace bare
