# Compiler options of everything in this build. None of them is exported to users of the library.

find_program(GYRE_CCACHE ccache)
if(GYRE_CCACHE AND PROJECT_IS_TOP_LEVEL)
  # ccache must ignore these differences to recognize a precompiled header.
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros ${GYRE_CCACHE})
endif()

# For targets that compile several files at once.
add_library(gyre_united_build INTERFACE)
target_compile_options(gyre_united_build INTERFACE -Wno-shadow)  # a local is not confused with a name in another file
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
  target_compile_options(gyre_united_build INTERFACE -Wno-subobject-linkage)  # a file in a unity file is not a header
endif()

add_library(gyre_build INTERFACE)
# Call stacks and messages show src/http/server/server.cpp wherever the library was built. The second form is the path
# as a ccache with a base_dir rewrites it. Debug information keeps the whole path, so that debuggers and coverage find
# the source. The option is not exported, because a consumer may need its own __FILE__ unchanged.
file(RELATIVE_PATH GYRE_SOURCE_FROM_BUILD ${CMAKE_BINARY_DIR} ${PROJECT_SOURCE_DIR}/src)
string(REGEX REPLACE "src$" "" GYRE_SOURCE_FROM_BUILD "${GYRE_SOURCE_FROM_BUILD}")
target_compile_options(gyre_build INTERFACE -fmacro-prefix-map=${PROJECT_SOURCE_DIR}/=)
if(GYRE_SOURCE_FROM_BUILD)
  target_compile_options(gyre_build INTERFACE -fmacro-prefix-map=${GYRE_SOURCE_FROM_BUILD}=)
endif()
if(GYRE_WARNINGS_AS_ERRORS)
  target_compile_options(gyre_build INTERFACE -Wall -Wextra -Wconversion -Wshadow -Werror)
  target_compile_definitions(gyre_build INTERFACE GYRE_CHECK_LIFETIMES)
  if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
    # False positives of g++ 12 in code that it has inlined from coroutines; the last one in the macros of GoogleTest.
    target_compile_options(gyre_build INTERFACE -Wno-maybe-uninitialized -Wno-dangling-pointer -Wno-stringop-overflow
                           -Wno-array-bounds -Wno-dangling-else)
  endif()
endif()
# LLD takes a quarter of the time of GNU ld, with which the tests of consumers link.
find_program(GYRE_LLD ld.lld-19)
if(GYRE_LLD AND PROJECT_IS_TOP_LEVEL)
  file(REAL_PATH ${GYRE_LLD} folder)
  get_filename_component(folder ${folder} DIRECTORY)
  target_link_options(gyre_build INTERFACE -B${folder} -fuse-ld=lld)
endif()
if(GYRE_UNITY_BUILD)
  target_link_libraries(gyre_build INTERFACE gyre_united_build)  # behind the options above, some of which it takes back
endif()
if(GYRE_SANITIZE)
  target_compile_options(gyre_build INTERFACE -fsanitize=${GYRE_SANITIZE} -fno-sanitize-recover=all
                         -fno-omit-frame-pointer)
  if(GYRE_SANITIZE MATCHES "undefined")
    # This check opens a pipe for each type that it has not seen. When the process is out of descriptors, it reports a
    # wrong type. The tests of shortages use up all descriptors.
    target_compile_options(gyre_build INTERFACE -fno-sanitize=vptr)
  endif()
  target_link_options(gyre_build INTERFACE -fsanitize=${GYRE_SANITIZE})
  target_compile_definitions(gyre_build INTERFACE GYRE_NO_FRAME_POOL)  # every frame from the heap, for sanitizers
endif()

# gyre_unite(target): compiles ten files of a target of tests or programs at once, because their headers cost more than
# they do. Names of helpers must therefore be unique in a target.
function(gyre_unite target)
  if(GYRE_UNITE_TESTS)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 10)
    target_link_libraries(${target} PRIVATE gyre_united_build)
  endif()
endfunction()

# gyre_precompile_for(owner target...): the targets, whose options are equal, share one precompiled header of the
# library, which takes longer to compile than most programs. The release build has none, to find includes that the
# library and the examples lack; nor has a build of a single program.
function(gyre_precompile_for owner)
  if(NOT GYRE_UNITY_BUILD OR NOT GYRE_BUILD_TESTS)
    return()
  endif()
  foreach(target ${owner} ${ARGN})
    if(CMAKE_CXX_COMPILER_ID STREQUAL Clang)
      target_compile_options(${target} PRIVATE -Xclang -fno-pch-timestamp)  # ccache compares the text of headers
    else()
      target_compile_options(${target} PRIVATE -O0 -g0)  # only the suite resp runs some of their code
    endif()
    if(target STREQUAL owner)
      target_precompile_headers(${target} PRIVATE <gyre/gyre.hpp> <gyre/http.hpp>)
    else()
      target_precompile_headers(${target} REUSE_FROM ${owner})
    endif()
  endforeach()
endfunction()
