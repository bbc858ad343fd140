# The suite "compiler": what compilers must understand, and what they must refuse.

# Known compiler traps: separate programs, at the optimization levels that users compile with.
file(GLOB traps CONFIGURE_DEPENDS compiler/*.cpp)
set(levels O2)
if(CMAKE_CXX_COMPILER_ID STREQUAL Clang AND NOT GYRE_SANITIZE)
  list(PREPEND levels O0)
endif()
foreach(source ${traps})
  get_filename_component(name ${source} NAME_WE)
  foreach(level ${levels})
    add_executable(trap_${name}_${level} ${source})
    target_compile_options(trap_${name}_${level} PRIVATE -${level})
    target_include_directories(trap_${name}_${level} PRIVATE ${PROJECT_SOURCE_DIR})
    target_link_libraries(trap_${name}_${level} PRIVATE gyre::gyre gyre_build)
    gyre_suite_has(compiler trap_${name}_${level})
    gyre_run_test(compiler.${name}.${level} compiler auto trap_${name}_${level})
  endforeach()
endforeach()

# A sanitizer of the user's program detects the use of freed frames, although the library was built without it.
if(NOT GYRE_SANITIZE)
  include(CheckCXXSourceCompiles)
  set(CMAKE_REQUIRED_FLAGS -fsanitize=address)
  check_cxx_source_compiles("int main() {}" GYRE_HAS_ADDRESS_SANITIZER)
  unset(CMAKE_REQUIRED_FLAGS)
  if(GYRE_HAS_ADDRESS_SANITIZER)
    add_executable(gyre_freed_frame sanitized/freed_frame.cpp)
    target_compile_options(gyre_freed_frame PRIVATE -fsanitize=address)
    target_link_options(gyre_freed_frame PRIVATE -fsanitize=address)
    target_link_libraries(gyre_freed_frame PRIVATE gyre::gyre gyre_build)
    gyre_suite_has(compiler gyre_freed_frame)
    gyre_run_test(sanitized.freed_frame compiler auto gyre_freed_frame)
    set_tests_properties(sanitized.freed_frame PROPERTIES PASS_REGULAR_EXPRESSION "heap-use-after-free")
  endif()

  # Code that must not compile, and the message that the compiler must print. Some of it only one compiler refuses.
  file(GLOB failures CONFIGURE_DEPENDS compile_fail/*.cpp)
  get_filename_component(compiler ${CMAKE_CXX_COMPILER} NAME)
  foreach(source ${failures})
    get_filename_component(name ${source} NAME_WE)
    file(STRINGS ${source} only REGEX "^// compiler: " LIMIT_COUNT 1)
    string(REPLACE "// compiler: " "" only "${only}")
    string(FIND "${compiler}" "${only}" at)  # "clang++" contains "g++"
    if(NOT at EQUAL 0)
      continue()
    endif()
    gyre_run_test(compile_fail.${name} compiler auto
                  ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/compile_fail/run.py ${CMAKE_CXX_COMPILER}
                  ${PROJECT_SOURCE_DIR}/include ${source})
  endforeach()
endif()
