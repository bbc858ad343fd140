// gyre/required_language.hpp: stops a compilation with options that the library cannot be used with, in one sentence.
#pragma once

#if __cplusplus <= 202002L
#error "gyre needs C++23: compile with -std=c++23, or in CMake with target_link_libraries(... gyre::gyre)"
#endif

#ifndef __cpp_exceptions
#error "gyre needs exceptions, which report errors and cancel tasks: compile without -fno-exceptions"
#endif
