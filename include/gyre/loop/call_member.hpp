// gyre/loop/call_member.hpp: a member function as the function pointer of a base. For authors of operations.
#pragma once

#include <type_traits>

namespace gyre {

template <auto Member>
struct member_caller;

template <class Class, class Result, class... Arguments, Result (Class::*Member)(Arguments...) noexcept>
struct member_caller<Member> {
  template <class Base>
  using function = Result (*)(Base&, Arguments...) noexcept;

  template <class Base>
  static Result call(Base& base, Arguments... arguments) noexcept {
    static_assert(std::is_base_of_v<Base, Class>);
    // A cast of this form also reaches a private base.
    return (((Class&)base).*Member)(arguments...);  // NOLINT(google-readability-casting)
  }
  template <class Base>
  constexpr operator function<Base>() const noexcept {  // NOLINT(google-explicit-constructor)
    return &call<Base>;
  }
};

/// Converts to the function pointer through which a base (a timer, a completion, a cancellable) calls its owner:
/// `fire = call_member<&sleep_op::on_time>;`
template <auto Member>
inline constexpr member_caller<Member> call_member{};

}  // namespace gyre
