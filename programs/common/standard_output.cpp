// programs/common/standard_output.cpp
#include "programs/common/standard_output.hpp"

#include <gyre/io/printable.hpp>

#include <cerrno>
#include <cstdio>
#include <cstring>

namespace programs {

bool print_result(std::string_view text) noexcept {
  if (std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0) return true;
  if (errno != EPIPE)  // "gyre serve --help | head" has seen enough
    gyre::print_diagnostic({"error: write standard output: ", std::strerror(errno)});
  return false;
}

}  // namespace programs
