# GYRE_STATIC: the programs as static executables. They need no library of the machine that runs them.
option(GYRE_STATIC "Link the programs with static libraries only" OFF)
if(GYRE_STATIC)
  if(BUILD_SHARED_LIBS)
    message(FATAL_ERROR "GYRE_STATIC and BUILD_SHARED_LIBS exclude each other")
  endif()
  set(CMAKE_FIND_LIBRARY_SUFFIXES .a)
  set(OPENSSL_USE_STATIC_LIBS ON)
  set(CMAKE_POSITION_INDEPENDENT_CODE ON)
  set(CMAKE_SKIP_RPATH ON)
endif()

# gyre_link_program(target): options for the linker of a program.
function(gyre_link_program target)
  if(GYRE_STATIC)
    target_link_options(${target} PRIVATE -static-pie LINKER:--gc-sections,--strip-all)
    if(GYRE_LLD)
      target_link_options(${target} PRIVATE LINKER:--pack-dyn-relocs=relr)  # 6 % of its size
    endif()
  endif()
endfunction()
