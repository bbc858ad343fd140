# The libraries of content codings (http/compress). Each is used if it is found, and only by src/http.
option(GYRE_WITH_ZLIB "gzip, when zlib is found" ON)
option(GYRE_WITH_BROTLI "br, when the encoder of Brotli is found" ON)
option(GYRE_WITH_ZSTD "zstd, when it is found" ON)

set(GYRE_CODINGS "")               # GYRE_WITH_... of the libraries that were found
set(GYRE_CODING_NAMES "")          # for the linkers of consumers: z, brotlienc
set(GYRE_CODING_LIBRARIES "")      # files, for this build
set(GYRE_CODING_INCLUDES "")

# gyre_coding(ZLIB source.cpp header library...): uses the coding, and compiles the source, if all of it is found.
macro(gyre_coding name source header)
  find_path(GYRE_${name}_INCLUDE ${header})
  set(found ${GYRE_WITH_${name}})
  set(files "")
  if(NOT GYRE_${name}_INCLUDE)
    set(found OFF)
  endif()
  foreach(library ${ARGN})
    find_library(GYRE_${library}_LIBRARY ${library})
    list(APPEND files ${GYRE_${library}_LIBRARY})
    if(NOT GYRE_${library}_LIBRARY)
      set(found OFF)
    endif()
  endforeach()
  mark_as_advanced(GYRE_${name}_INCLUDE)
  if(found)
    list(APPEND GYRE_CODINGS GYRE_WITH_${name})
    list(APPEND GYRE_CODING_NAMES ${ARGN})
    list(APPEND GYRE_CODING_LIBRARIES ${files})
    list(APPEND GYRE_CODING_INCLUDES ${GYRE_${name}_INCLUDE})
  else()
    set_source_files_properties(${PROJECT_SOURCE_DIR}/src/http/middleware/${source} PROPERTIES HEADER_FILE_ONLY ON)
  endif()
endmacro()

gyre_coding(ZLIB gzip_encoder.cpp zlib.h z)
gyre_coding(BROTLI brotli_encoder.cpp brotli/encode.h brotlienc brotlicommon)
gyre_coding(ZSTD zstd_encoder.cpp zstd.h zstd)
list(REMOVE_DUPLICATES GYRE_CODING_INCLUDES)
list(REMOVE_ITEM GYRE_CODING_INCLUDES ${CMAKE_CXX_IMPLICIT_INCLUDE_DIRECTORIES})

# Call this after the targets have been declared.
function(gyre_use_codings)
  target_compile_definitions(gyre_http PRIVATE ${GYRE_CODINGS})
  target_include_directories(gyre_http SYSTEM PRIVATE ${GYRE_CODING_INCLUDES})
  gyre_link_privately(gyre FILES ${GYRE_CODING_LIBRARIES} NAMES ${GYRE_CODING_NAMES})
endfunction()
