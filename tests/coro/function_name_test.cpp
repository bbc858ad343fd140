// tests/coro/function_name_test.cpp: the signatures of clang and of g++ give the same short names.
#include <gyre/coro/function_name.hpp>

#include "tests/support/virtual_run.hpp"

#include <functional>
#include <string>
#include <vector>

using namespace gyre_test;

namespace {

std::string short_name(const std::string& signature) { return gyre::short_function_name(signature.c_str()).c_str(); }

gyre::task<std::string> own_name() {  // the name of the awaiting coroutine
  const auto stack = co_await gyre::call_stack();
  co_return short_name(stack[1].function_name());
}

gyre::task<std::string> in_unnamed_namespace(int /*unused*/) { co_return co_await own_name(); }

struct functor {
  gyre::task<std::string> operator()(void (*)(char)) const& { co_return co_await own_name(); }
  gyre::task<std::string> operator<(int) const { co_return co_await own_name(); }
  gyre::task<std::string> operator->*(int) const { co_return co_await own_name(); }
  operator gyre::task<std::string>() const { co_return co_await own_name(); }
  auto from_lambda() const {
    return [](auto /*unused*/) -> gyre::task<std::string> { co_return co_await own_name(); };
  }
};

template <class T>
struct box {
  template <class U>
  gyre::task<std::string> put(U /*unused*/, std::vector<T> /*unused*/) {
    co_return co_await own_name();
  }
};

template <char C, auto Function>
gyre::task<std::string> with_values() {
  co_return co_await own_name();
}

template <class T>
  requires(sizeof(T) > 1)
gyre::task<std::string> constrained(T /*unused*/)
  requires std::is_object_v<T>
{
  co_return co_await own_name();
}

gyre::task<std::function<std::string(int)>> with_a_function_in_its_result(std::string& name) {
  name = co_await own_name();
  co_return nullptr;
}

}  // namespace

namespace application::part {
gyre::task<std::string> run(std::vector<std::string> /*unused*/) { co_return co_await own_name(); }
}  // namespace application::part

TEST(function_name, is_the_same_with_every_compiler) {
  run_virtual([]() -> gyre::task<> {
    const functor f;
    box<std::vector<int>> strings;
    EXPECT_EQ(co_await in_unnamed_namespace(1), "in_unnamed_namespace");
    EXPECT_EQ(co_await application::part::run({}), "application::part::run");
    EXPECT_EQ(co_await f(nullptr), "functor::operator()");
    EXPECT_EQ(co_await (f < 1), "functor::operator<");
    EXPECT_EQ(co_await (f->*1), "functor::operator->*");
    EXPECT_EQ(co_await static_cast<gyre::task<std::string>>(f), "functor::operator task");
    auto lambda = f.from_lambda();
    EXPECT_EQ(co_await lambda(1), "functor::from_lambda::lambda");
    EXPECT_EQ(co_await strings.put(1, {}), "box::put");
    EXPECT_EQ((co_await with_values<'(', &functor::from_lambda>()), "with_values");
    EXPECT_EQ((co_await with_values<'>', 1>()), "with_values");
    EXPECT_EQ(co_await constrained(1), "constrained");
    std::string name;
    (void)co_await with_a_function_in_its_result(name);
    EXPECT_EQ(name, "with_a_function_in_its_result");
  });
}

TEST(function_name, leaves_out_result_parameters_and_template_arguments) {
  EXPECT_EQ(short_name("gyre::task<int> (anonymous namespace)::factorial(int)"), "factorial");
  EXPECT_EQ(short_name("void {anonymous}::factorial(factorial(int)::_ZN12_GLOBAL__N_19factorialEi.Frame*)"),
            "factorial");
  EXPECT_EQ(short_name("gyre::task<> <unnamed>::deep()"), "deep");
  EXPECT_EQ(short_name("static task<T> app::(anonymous namespace)::box<int>::run(T) [T = int]"), "app::box::run");
  EXPECT_EQ(short_name("task<std::function<int (int)>> f(std::function<void (int (*)(char))>)"), "f");
  EXPECT_EQ(short_name("task<decltype(1 > 2)> f(int)"), "f");
  EXPECT_EQ(short_name("constexpr decltype(auto) app::f(T) requires (sizeof(T) > 1)"), "app::f");
  EXPECT_EQ(short_name("int (*app::f(char))(int)"), "app::f");
  EXPECT_EQ(short_name("std::string f[abi:cxx11](int)"), "f");
}

TEST(function_name, is_not_led_astray_by_brackets_in_values) {
  EXPECT_EQ(short_name("task<> f<'(', '\\'', str<9>{\"a(b>c::d\"}, (1 > 0)>::g()"), "f::g");
  EXPECT_EQ(short_name("task<> f<&a::operator<, &a::my_operator<1>, &a::operator->>::g(int)"), "f::g");
}

TEST(function_name, is_lambda_for_a_lambda_after_the_name_that_contains_it) {
  EXPECT_EQ(short_name("auto main()::(anonymous class)::operator()(int)::(anonymous class)::operator()() const"),
            "main::lambda::lambda");
  EXPECT_EQ(
      short_name(
          "void main()::<lambda(auto:13)>::<lambda()>::operator()(main()::<lambda(auto:13)>::<lambda()>::_Z.Frame*)"),
      "main::lambda::lambda");
  EXPECT_EQ(short_name("f(T) [with T = int]::<lambda(auto:1)> [with auto:1 = int]"), "f::lambda");
  EXPECT_EQ(short_name("void f(T) requires  sizeof a::x > 1::<lambda()>::operator()(int)"), "f::lambda");
  EXPECT_EQ(short_name("auto main()::(unnamed struct at /a (b)/c.cpp:1:2)::run()"), "main::unnamed::run");
}

TEST(function_name, is_the_whole_operator_for_an_operator) {
  EXPECT_EQ(short_name("task<> a::operator()(int) &&"), "a::operator()");
  EXPECT_EQ(short_name("bool a::operator<=>(int)"), "a::operator<=>");
  EXPECT_EQ(short_name("bool a::operator< <int>(int)"), "a::operator<");
  EXPECT_EQ(short_name("task<> operator\"\"_s(unsigned long long)"), "operator\"\"_s");
  EXPECT_EQ(short_name("auto a::operator co_await() const"), "a::operator co_await");
  EXPECT_EQ(short_name("void *a::operator new[](std::size_t)"), "a::operator new");
}

TEST(function_name, is_operator_and_the_type_for_a_conversion) {
  EXPECT_EQ(short_name("task<int> (anonymous namespace)::a::operator task() const"), "a::operator task");
  EXPECT_EQ(short_name("{anonymous}::a::operator void({anonymous}::a::operator gyre::task<int>() const::_ZNKv.Frame*)"),
            "a::operator task");
  EXPECT_EQ(short_name("a::operator const char *() const"), "a::operator const char*");
  EXPECT_EQ(short_name("a::operator std::function<int (*)(char)>() const"), "a::operator function");
  EXPECT_EQ(short_name("auto a::operator int *()::(anonymous class)::operator()() const"), "a::operator int*::lambda");
  EXPECT_EQ(short_name("a::operator newtype()"), "a::operator newtype");
}

TEST(function_name, is_the_text_itself_when_that_is_unknown) {
  for (const char* const text : {"", "???", "'\"'\"'\"", "((((", "<"}) EXPECT_EQ(short_name(text), text);
  for (const char* const text : {"operator", "a::operator void", "f(\"", "f<'\\", "f(int"}) (void)short_name(text);
}

TEST(function_name, that_is_too_long_ends_with_dots) {
  const std::string name = short_name("task<> " + std::string(300, 'n') + "::f()");
  EXPECT_TRUE(name.starts_with("nnnn")) << name;
  EXPECT_TRUE(name.ends_with("n...")) << name;
  EXPECT_EQ(name.size(), 255U);
}
