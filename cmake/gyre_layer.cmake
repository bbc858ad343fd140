# A layer is a folder: include/gyre/<name>/, src/<name>/, tests/<name>/. All layers together are one library.

set(GYRE_LAYER_TARGETS "")
set(GYRE_LAYER_FOLDERS "")

# gyre_layer(name USES other...): compiles src/<name>/, which sees include/ and its own private headers only. A layer
# a_b is in src/a/b/, below layer a or above it, and shares include/gyre/a/ and tests/a/ with it. They see each other's
# private headers.
function(gyre_layer name)
  cmake_parse_arguments(LAYER "" "" "USES" ${ARGN})
  string(REGEX REPLACE _.* "" top ${name})
  string(REGEX REPLACE "^([^_]*)_" "\\1/" folder ${name})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR}/src
       ${PROJECT_SOURCE_DIR}/src/${folder}/*.cpp)
  foreach(other ${GYRE_LAYER_FOLDERS})
    list(FILTER sources EXCLUDE REGEX "^${other}/")
  endforeach()
  set(GYRE_LAYER_FOLDERS ${GYRE_LAYER_FOLDERS} ${folder} PARENT_SCOPE)
  list(TRANSFORM sources PREPEND ${PROJECT_SOURCE_DIR}/src/)
  if(TARGET gyre_${top})  # a layer above it
    get_target_property(of_top gyre_${top} SOURCES)
    list(REMOVE_ITEM of_top ${sources})
    set_property(TARGET gyre_${top} PROPERTY SOURCES ${of_top})
  endif()
  if(NOT sources)
    return()  # headers only
  endif()
  add_library(gyre_${name} OBJECT ${sources})
  target_include_directories(gyre_${name} PUBLIC ${PROJECT_SOURCE_DIR}/include PRIVATE ${PROJECT_SOURCE_DIR}/src/${top})
  target_link_libraries(gyre_${name} PRIVATE gyre_build)
  set_target_properties(gyre_${name} PROPERTIES CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
  if(BUILD_SHARED_LIBS)
    target_compile_definitions(gyre_${name} PRIVATE GYRE_SHARED)
    set_target_properties(gyre_${name} PROPERTIES POSITION_INDEPENDENT_CODE ON)
  endif()  # otherwise CMAKE_POSITION_INDEPENDENT_CODE decides: a plugin may contain the static library
  # Also when a program that contains this tree asks for the unity build: more than ten may use a name twice.
  set_target_properties(gyre_${name} PROPERTIES UNITY_BUILD_BATCH_SIZE 10)
  if(GYRE_UNITY_BUILD)
    set_target_properties(gyre_${name} PROPERTIES UNITY_BUILD ON)
  endif()
  set(GYRE_LAYER_TARGETS ${GYRE_LAYER_TARGETS} gyre_${name} PARENT_SCOPE)
endfunction()

# gyre_set_version(library): properties of gyre, gyre-tls and gyre-client. Before version 1, each minor version has an
# ABI of its own. A shared library is never unloaded, because threads of its pools and its thread-local objects may
# outlive the plugin that brought it. One finds the others beside it.
function(gyre_set_version library)
  set(GYRE_ABI ${PROJECT_VERSION_MAJOR})
  if(GYRE_ABI EQUAL 0)
    set(GYRE_ABI 0.${PROJECT_VERSION_MINOR})
  endif()
  set_target_properties(${library} PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION ${GYRE_ABI}
                        LINKER_LANGUAGE CXX INSTALL_RPATH "$ORIGIN")
  if(BUILD_SHARED_LIBS)
    set(exports ${PROJECT_BINARY_DIR}/exports.map)
    configure_file(${PROJECT_SOURCE_DIR}/cmake/exports.map.in ${exports} @ONLY)
    target_link_options(${library} PRIVATE LINKER:-z,nodelete LINKER:--version-script=${exports})
    set_target_properties(${library} PROPERTIES LINK_DEPENDS ${exports})
  endif()
endfunction()

# Declares gyre::gyre (all layers, also called gyre::core and gyre::http) and gyre::uring (the ring binding alone), and
# installs them.
function(gyre_library)
  add_library(gyre)
  foreach(name gyre core http)
    add_library(gyre::${name} ALIAS gyre)
  endforeach()
  foreach(layer ${GYRE_LAYER_TARGETS})
    if(layer MATCHES "^gyre_(tls|client)$")
      continue()  # see gyre_tls.cmake and gyre_client.cmake
    endif()
    target_sources(gyre PRIVATE $<TARGET_OBJECTS:${layer}>)
  endforeach()
  target_link_libraries(gyre PUBLIC Threads::Threads PRIVATE $<BUILD_INTERFACE:gyre_build>)
  target_compile_features(gyre PUBLIC cxx_std_23)
  if(BUILD_SHARED_LIBS)
    target_compile_definitions(gyre PUBLIC GYRE_SHARED)
  endif()
  gyre_set_version(gyre)
  if(GYRE_SANITIZE)
    target_compile_definitions(gyre PUBLIC GYRE_NO_FRAME_POOL)
  endif()

  add_library(gyre_uring INTERFACE)
  add_library(gyre::uring ALIAS gyre_uring)
  set_target_properties(gyre_uring PROPERTIES EXPORT_NAME uring)
  target_compile_features(gyre_uring INTERFACE cxx_std_23)

  foreach(target gyre gyre_uring)
    get_target_property(type ${target} TYPE)
    set(scope PUBLIC)
    if(type STREQUAL INTERFACE_LIBRARY)
      set(scope INTERFACE)
    endif()
    target_include_directories(${target} ${scope} $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
                               $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  endforeach()

  gyre_install_libraries(gyre gyreTargets.cmake gyre gyre_uring)
  gyre_pkg_config(gyre DESCRIPTION "${PROJECT_DESCRIPTION}" LIBRARIES -pthread STATIC_LIBRARIES ${GYRE_CODING_NAMES})
endfunction()
