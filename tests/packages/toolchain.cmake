# For the builds of tests/packages: "Release" compiles as fast as it can, and shared libraries are built when the test
# asks for them. The commands of the documents remain as they are.
set(CMAKE_CXX_FLAGS_RELEASE "-O0 -DNDEBUG" CACHE STRING "")
set(GYRE_UNITY_BUILD ON CACHE BOOL "")
if(DEFINED ENV{GYRE_PACKAGES_SHARED})
  set(BUILD_SHARED_LIBS $ENV{GYRE_PACKAGES_SHARED} CACHE BOOL "")
endif()
