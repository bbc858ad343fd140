// src/coro/misuse.cpp: stops a program that broke a rule of the library.
#include <gyre/coro/misuse.hpp>

#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <cstdarg>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace gyre {

namespace {
thread_local const char* remark = nullptr;

// A reader of standard error that is gone or stuck for a second does not keep the program from ending by SIGABRT.
void print_last_line(char* line) noexcept {
  ::signal(SIGPIPE, SIG_IGN);
  const std::size_t size = std::strlen(line);
  line[size] = '\n';  // in place of the zero
  pollfd ready{.fd = STDERR_FILENO, .events = POLLOUT, .revents = 0};
  if (::poll(&ready, 1, 1000) > 0) (void)!::write(STDERR_FILENO, line, size + 1);
}

}  // namespace

misuse_remark::misuse_remark(const char* text) noexcept { remark = text; }
misuse_remark::~misuse_remark() { remark = nullptr; }

void misuse(const char* sentence, ...) noexcept {
  char text[1024];
  std::va_list arguments;
  va_start(arguments, sentence);
  std::vsnprintf(text, sizeof(text), sentence, arguments);
  va_end(arguments);
  char line[1280];  // printed in one call, so that output of other threads does not interleave
  const bool remarks = remark != nullptr && *remark != '\0';
  std::snprintf(line, sizeof(line), "gyre: %s%s%s%s", text, remarks ? " (" : "", remarks ? remark : "",
                remarks ? ")" : "");
  print_last_line(line);
  std::abort();
}

void misuse_of_closed(const char* operation, const char* object) noexcept {
  misuse("%s on %s that is closed or was moved from: use the object that it was moved to, or open a new one", operation,
         object);
}

void misuse_of_awaited(const char* object) noexcept {
  misuse("%s was destroyed while a task waits for it: cancel and await that task first, or keep the object longer",
         object);
}

}  // namespace gyre
