# The target gyre::module, whose users can `import gyre;`. The interface is compiled in the project that uses it, with
# its options, because compilers read only interfaces that were compiled with the same ones. Needs CMake 3.28 and Ninja.
# Part of an installation, too, where this file lies beside gyre.cppm.
set(gyre_module_folder ${CMAKE_CURRENT_LIST_DIR})
if(NOT EXISTS ${gyre_module_folder}/gyre.cppm)
  set(gyre_module_folder ${CMAKE_CURRENT_LIST_DIR}/../src/modules)
endif()
if(NOT TARGET gyre_module)
  add_library(gyre_module STATIC EXCLUDE_FROM_ALL)
  target_sources(gyre_module PUBLIC FILE_SET CXX_MODULES BASE_DIRS ${gyre_module_folder}
                                                         FILES ${gyre_module_folder}/gyre.cppm)
  target_compile_features(gyre_module PUBLIC cxx_std_23)
  target_link_libraries(gyre_module PUBLIC gyre::gyre)
  add_library(gyre::module ALIAS gyre_module)
endif()
unset(gyre_module_folder)
