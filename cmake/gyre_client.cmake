# The layer client is a library of its own, gyre::client, because it stands on gyre::tls.

option(GYRE_WITH_LIBPSL "The list of public suffixes for cookies, when libpsl is found" ON)

# Declares and installs it. Call this after gyre_tls_library.
function(gyre_client_library)
  # Decompression. The decoders of zlib and zstd are in the libraries of their encoders.
  find_library(GYRE_brotlidec_LIBRARY brotlidec)
  set(codings ${GYRE_CODINGS})
  set(files ${GYRE_CODING_LIBRARIES})
  set(names ${GYRE_CODING_NAMES})
  if(GYRE_brotlidec_LIBRARY AND "GYRE_WITH_BROTLI" IN_LIST GYRE_CODINGS)
    list(APPEND codings GYRE_WITH_BROTLI_DECODER)
    list(PREPEND files ${GYRE_brotlidec_LIBRARY})
    list(PREPEND names brotlidec)
  endif()
  find_path(GYRE_psl_INCLUDE libpsl.h)
  find_library(GYRE_psl_LIBRARY psl)
  mark_as_advanced(GYRE_psl_INCLUDE GYRE_psl_LIBRARY)
  if(GYRE_WITH_LIBPSL AND GYRE_psl_INCLUDE AND GYRE_psl_LIBRARY)
    list(APPEND files ${GYRE_psl_LIBRARY})
    list(APPEND names psl)
    list(APPEND codings GYRE_WITH_LIBPSL)
    if(NOT GYRE_psl_INCLUDE IN_LIST CMAKE_CXX_IMPLICIT_INCLUDE_DIRECTORIES)
      target_include_directories(gyre_client SYSTEM PRIVATE ${GYRE_psl_INCLUDE})
    endif()
  endif()
  foreach(each ZLIB/gzip BROTLI_DECODER/brotli ZSTD/zstd)
    string(REGEX MATCH "(.*)/(.*)" both ${each})
    if(NOT "GYRE_WITH_${CMAKE_MATCH_1}" IN_LIST codings)
      set_source_files_properties(${PROJECT_SOURCE_DIR}/src/client/${CMAKE_MATCH_2}_decoder.cpp
                                  PROPERTIES HEADER_FILE_ONLY ON)
    endif()
  endforeach()
  target_compile_definitions(gyre_client PRIVATE ${codings})
  target_include_directories(gyre_client SYSTEM PRIVATE ${GYRE_CODING_INCLUDES})
  add_library(gyre-client $<TARGET_OBJECTS:gyre_client>)
  add_library(gyre::client ALIAS gyre-client)
  target_link_libraries(gyre-client PUBLIC gyre-tls gyre PRIVATE $<BUILD_INTERFACE:gyre_build>
                        $<BUILD_INTERFACE:${files}> $<INSTALL_INTERFACE:${names}>)
  set_target_properties(gyre-client PROPERTIES EXPORT_NAME client)
  gyre_set_version(gyre-client)
  install(TARGETS gyre-client EXPORT gyre-client)
  gyre_pkg_config(gyre-client DESCRIPTION "The HTTP client of gyre" REQUIRES "gyre-tls = ${PROJECT_VERSION}"
                  STATIC_LIBRARIES ${names})
  install(EXPORT gyre-client NAMESPACE gyre:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/gyre
          FILE gyreClientTargets.cmake)
endfunction()
