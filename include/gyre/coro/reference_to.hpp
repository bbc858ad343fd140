// gyre/coro/reference_to.hpp: a reference that a container, std::optional or std::expected can hold.
#pragma once

namespace gyre {

/// Refers to a T and converts to T&: the result of a task<T&> where a type of the standard library holds it.
///
///   std::expected<gyre::reference_to<table>, std::exception_ptr> found = co_await gyre::as_result(find(name));
///   if (found) { table& t = *found; }
///
/// An assignment lets it refer to another object. Converts to a std::reference_wrapper, which would need <functional>.
/// Lifetime: the object must outlive it.
template <class T>
class reference_to {
 public:
  reference_to(T& target) noexcept
      : target_(__builtin_addressof(target)) {}  // NOLINT: implicit, as a reference is bound
  reference_to(T&&) = delete;

  [[nodiscard]] T& get() const noexcept { return *target_; }
  operator T&() const noexcept { return *target_; }  // NOLINT: implicit, as a reference is used
  [[nodiscard]] T& operator*() const noexcept { return *target_; }
  [[nodiscard]] T* operator->() const noexcept { return target_; }

 private:
  T* target_;
};

template <class T>
struct storable_as {
  using type = T;
  using result = T;
};
template <class T>
struct storable_as<T&> {
  using type = reference_to<T>;
  using result = T&;
};
template <class T>
struct storable_as<reference_to<T>> {
  using type = reference_to<T>;
  using result = T&;
};
/// T as the standard library can hold it: reference_to<U> for U&, otherwise T itself.
template <class T>
using storable = typename storable_as<T>::type;
/// The reverse: U& for reference_to<U>, otherwise T itself.
template <class T>
using restored = typename storable_as<T>::result;

}  // namespace gyre
