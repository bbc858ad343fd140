// tests/compile_fail/build_options.cpp: what the library needs of every translation unit.

// case: an_old_standard
// expect: gyre needs C++23: compile with -std=c++23
// flags: -std=c++20
#include <gyre/gyre.hpp>

// case: no_exceptions
// expect: gyre needs exceptions, which report errors and cancel tasks
// flags: -fno-exceptions
#include <gyre/http.hpp>
