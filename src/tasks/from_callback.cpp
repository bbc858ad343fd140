// src/tasks/from_callback.cpp: error messages of callbacks.
#include <gyre/tasks/from_callback.hpp>

namespace gyre {

const char* callback_dropped::what() const noexcept {
  return "the callback was destroyed without having been called: nobody will give the result";
}

const char* callback_failed_without_error::what() const noexcept {
  return "the callback's fail() was called with no error: call the callback with a value for success";
}

}  // namespace gyre
