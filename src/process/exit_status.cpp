// src/process/exit_status.cpp: describes an exit status.
#include <gyre/process/exit_status.hpp>

#include <string.h>

namespace gyre {

std::string exit_status::string() const {
  if (unknown) return "status unknown";
  if (signal == 0) return "exit code " + std::to_string(code);
  const char* const name = ::sigdescr_np(signal);
  return "signal " + std::to_string(signal) + " (" + (name == nullptr ? "unknown" : name) + ")";
}

}  // namespace gyre
