// gyre/loop/owner_loop.hpp: the loop that an object belongs to, for checks. For authors of operations.
#pragma once

#include <gyre/attributes.hpp>
#include <gyre/coro/misuse.hpp>

#include <cstddef>
#include <cstdint>

namespace gyre {

template <std::size_t Size>
struct object_name {
  char text[Size];
  // NOLINTNEXTLINE(google-explicit-constructor): owner_loop_of<"a mutex">
  consteval object_name(const char (&name)[Size]) noexcept {
    for (std::size_t i = 0; i < Size; ++i) text[i] = name[i];
  }
};

/// Member of an object that may be made without a loop and does not know its loop otherwise. The object belongs to the
/// first loop on which it is used, until that loop has ended. Then it belongs to the next loop that uses it. A thread
/// without a loop may use it as long as it belongs to no loop.
///
/// A member of every build, four bytes: a debug build of a program may use a release build of the library.
/// Thread: any.
class GYRE_API owner_loop {
 public:
  /// Stops the program when `object` ("a mutex") belongs to another loop than the running one; `operation` ("unlock")
  /// was called on it. Same exception in a forked child as stop_on_other_loop().
  void expect_own(const char* operation, const char* object) const noexcept;

  /// The same in debug builds and under a sanitizer only, for operations whose cost matters.
  void check(const char* operation, const char* object) const noexcept {
    if constexpr (checks_everything) expect_own(operation, object);
  }

 private:
  void change_to(std::uint32_t here, const char* operation, const char* object) const noexcept;

  mutable std::uint32_t number_ = 0;  // of the loop; 0 means that no loop has used it
};

/// The same with the name of the object.
template <object_name Object>
class owner_loop_of : public owner_loop {
 public:
  void expect_own(const char* operation) const noexcept { owner_loop::expect_own(operation, Object.text); }
  void check(const char* operation) const noexcept { owner_loop::check(operation, Object.text); }
};

}  // namespace gyre
