// src/coro/misuse.cpp: stops a program that broke a rule of the library.
#include <gyre/coro/misuse.hpp>

#include <cstdarg>
#include <cstdio>
#include <cstdlib>

namespace gyre {

namespace {
thread_local const char* remark = nullptr;
}  // namespace

misuse_remark::misuse_remark(const char* text) noexcept { remark = text; }
misuse_remark::~misuse_remark() { remark = nullptr; }

void misuse(const char* sentence, ...) noexcept {
  char text[1024];  // printed in one call, so that output of other threads does not interleave
  std::va_list arguments;
  va_start(arguments, sentence);
  std::vsnprintf(text, sizeof(text), sentence, arguments);
  va_end(arguments);
  if (remark == nullptr || *remark == '\0')
    std::fprintf(stderr, "gyre: %s\n", text);
  else
    std::fprintf(stderr, "gyre: %s (%s)\n", text, remark);
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
