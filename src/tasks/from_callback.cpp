// src/tasks/from_callback.cpp: the words of an error.
#include <gyre/tasks/from_callback.hpp>

namespace gyre {

const char* callback_dropped::what() const noexcept {
  return "the callback was destroyed without having been called: nobody will give the result";
}

}  // namespace gyre
