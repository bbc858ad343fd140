# gyre_pkg_config(library DESCRIPTION text REQUIRES package... LIBRARIES flag... STATIC_REQUIRES package...
# STATIC_LIBRARIES name...): installs library.pc. What begins with STATIC is what the library itself uses: programs link
# that, too, when the library is static, and need not know it when the library is shared.
function(gyre_pkg_config target)
  cmake_parse_arguments(PC "" "DESCRIPTION" "REQUIRES;LIBRARIES;STATIC_REQUIRES;STATIC_LIBRARIES" ${ARGN})
  if(NOT BUILD_SHARED_LIBS)
    list(APPEND PC_REQUIRES ${PC_STATIC_REQUIRES})
    list(TRANSFORM PC_STATIC_LIBRARIES PREPEND -l)
    list(APPEND PC_LIBRARIES ${PC_STATIC_LIBRARIES})
  endif()
  list(JOIN PC_REQUIRES ", " requires)
  list(TRANSFORM PC_LIBRARIES PREPEND " ")
  list(JOIN PC_LIBRARIES "" libraries)
  get_target_property(flags ${target} INTERFACE_COMPILE_DEFINITIONS)
  if(NOT flags)
    set(flags "")
  endif()
  list(TRANSFORM flags PREPEND " -D")
  list(JOIN flags "" flags)
  # The prefix relative to the file: an installation may be moved, and `cmake --install --prefix` changes its place.
  file(RELATIVE_PATH GYRE_PC_TO_PREFIX "/prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/prefix")
  configure_file(${PROJECT_SOURCE_DIR}/cmake/library.pc.in ${PROJECT_BINARY_DIR}/${target}.pc @ONLY)
  if(GYRE_INSTALL)
    install(FILES ${PROJECT_BINARY_DIR}/${target}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig
            COMPONENT development)
  endif()
endfunction()
