# Debian packages by cpack: libgyre-dev (the component development) and gyre (the component tools). Before version 1
# there is no package of shared libraries, because each minor version would need one of another name.

# gyre_debian_packages(): call this when everything is declared.
function(gyre_debian_packages)
  if(NOT PROJECT_IS_TOP_LEVEL OR NOT GYRE_INSTALL OR BUILD_SHARED_LIBS)
    return()
  endif()
  set(CPACK_GENERATOR DEB)
  set(CPACK_COMPONENTS_ALL development tools)
  if(NOT TARGET gyre_command)
    set(CPACK_COMPONENTS_ALL development)
  endif()
  set(CPACK_DEB_COMPONENT_INSTALL ON)
  set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
  set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
  set(CPACK_PRE_BUILD_SCRIPTS ${PROJECT_SOURCE_DIR}/packaging/deb/prepare.cmake)
  set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE
      WORLD_READ WORLD_EXECUTE)
  set(CPACK_STRIP_FILES ON)
  set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
  set(CPACK_DEBIAN_PACKAGE_MAINTAINER "The gyre authors <maintainers@gyre.example>")
  set(CPACK_DEBIAN_PACKAGE_RELEASE 1)

  set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME libgyre-dev)
  set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
  set(CPACK_COMPONENT_DEVELOPMENT_DESCRIPTION
      "Servers and clients as straight-line C++23 coroutines: event loops,
tasks, sockets, files, TLS, an HTTP/1.1 server and client. This package
has the headers, static libraries, and files for CMake and pkg-config.")
  set(depends libc6-dev)
  foreach(each z/zlib1g-dev brotlienc/libbrotli-dev zstd/libzstd-dev psl/libpsl-dev)
    string(REGEX MATCH "(.*)/(.*)" both ${each})
    get_property(linked GLOBAL PROPERTY GYRE_LINKED_NAMES)
    if(CMAKE_MATCH_1 IN_LIST linked)
      list(APPEND depends ${CMAKE_MATCH_2})
    endif()
  endforeach()
  if(GYRE_TLS)
    list(APPEND depends "libssl-dev (>= 3)")
  endif()
  list(JOIN depends ", " CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS)

  set(CPACK_DEBIAN_TOOLS_PACKAGE_NAME gyre)
  set(CPACK_DEBIAN_TOOLS_PACKAGE_SECTION web)
  set(CPACK_DEBIAN_TOOLS_PACKAGE_SHLIBDEPS ON)
  set(CPACK_COMPONENT_TOOLS_DESCRIPTION "The command gyre serves files over HTTP and HTTPS, forwards requests to other
servers, fetches URLs, and measures servers.")
  include(CPack)
endfunction()
