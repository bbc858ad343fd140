# `cmake --install` has three components: development (headers, static libraries, files for CMake and
# pkg-config), runtime (shared libraries) and tools (the command gyre). Each copies what has been built and needs
# nothing of the others. A project that contains gyre installs it only when it asks for that.
option(GYRE_INSTALL "Install gyre together with this project" ${PROJECT_IS_TOP_LEVEL})
set(GYRE_CMAKE_FOLDER ${CMAKE_INSTALL_LIBDIR}/cmake/gyre)

# gyre_install_libraries(export file.cmake target...)
function(gyre_install_libraries export file)
  if(GYRE_INSTALL)
    install(TARGETS ${ARGN} EXPORT ${export} ARCHIVE COMPONENT development
            LIBRARY COMPONENT runtime NAMELINK_COMPONENT development)
    install(EXPORT ${export} NAMESPACE gyre:: DESTINATION ${GYRE_CMAKE_FOLDER} FILE ${file} COMPONENT development)
  endif()
endfunction()

# gyre_link_privately(target FILES file... NAMES name...): libraries that this build finds as files. A program that
# links an installed static library needs them, too: gyreConfig.cmake looks for them where that program looks for
# packages.
function(gyre_link_privately target)
  cmake_parse_arguments(LINK "" "" "FILES;NAMES" ${ARGN})
  set_property(GLOBAL APPEND PROPERTY GYRE_LINKED_NAMES ${LINK_NAMES})
  target_link_libraries(${target} PRIVATE $<BUILD_INTERFACE:${LINK_FILES}>)
  foreach(name ${LINK_NAMES})
    target_link_libraries(${target} PRIVATE $<INSTALL_INTERFACE:gyre::lib${name}>)
  endforeach()
endfunction()

# The headers, and what find_package reads. Call this after all libraries have been declared.
function(gyre_install_package)
  if(NOT GYRE_INSTALL)
    return()
  endif()
  include(CMakePackageConfigHelpers)
  get_property(GYRE_LINKED_NAMES GLOBAL PROPERTY GYRE_LINKED_NAMES)
  list(REMOVE_DUPLICATES GYRE_LINKED_NAMES)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/gyre DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT development)
  configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/gyreConfig.cmake.in ${PROJECT_BINARY_DIR}/gyreConfig.cmake
                                INSTALL_DESTINATION ${GYRE_CMAKE_FOLDER})
  write_basic_package_version_file(${PROJECT_BINARY_DIR}/gyreConfigVersion.cmake COMPATIBILITY SameMinorVersion)
  install(FILES ${PROJECT_BINARY_DIR}/gyreConfig.cmake ${PROJECT_BINARY_DIR}/gyreConfigVersion.cmake
                ${PROJECT_SOURCE_DIR}/cmake/gyre_module.cmake ${PROJECT_SOURCE_DIR}/src/modules/gyre.cppm
          DESTINATION ${GYRE_CMAKE_FOLDER} COMPONENT development)
endfunction()

# gyre_install_program(target): the command gyre, which finds the shared libraries of its installation.
function(gyre_install_program target)
  if(GYRE_INSTALL)
    file(RELATIVE_PATH libraries "/prefix/${CMAKE_INSTALL_BINDIR}" "/prefix/${CMAKE_INSTALL_LIBDIR}")
    set_target_properties(${target} PROPERTIES INSTALL_RPATH "$ORIGIN/${libraries}")
    install(TARGETS ${target} RUNTIME COMPONENT tools)
  endif()
endfunction()
