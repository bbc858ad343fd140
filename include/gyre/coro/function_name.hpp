// gyre/coro/function_name.hpp: a short, readable form of a function's signature.
#pragma once

#include <gyre/attributes.hpp>

namespace gyre {

/// The qualified name of a function, derived from `std::source_location::function_name()`: without result, parameters,
/// template arguments and unnamed namespaces. A lambda is called `lambda`, after the name of the function that contains
/// it: `main::lambda`.
///
/// clang and g++ give the same name, except that only g++ shows inline namespaces. A name that is too long ends with
/// "...".
class short_function_name {
 public:
  GYRE_API explicit short_function_name(const char* signature) noexcept;
  [[nodiscard]] const char* c_str() const noexcept { return text_; }

 private:
  char text_[256];
};

}  // namespace gyre
