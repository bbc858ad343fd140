# The layer client is a library of its own, gyre::client, because it stands on gyre::tls. Without OpenSSL there is none.

# Declares and installs it. Call this after gyre_tls_library.
function(gyre_client_library)
  if(NOT TARGET gyre_client)
    return()
  endif()
  add_library(gyre-client $<TARGET_OBJECTS:gyre_client>)
  add_library(gyre::client ALIAS gyre-client)
  target_link_libraries(gyre-client PUBLIC gyre-tls gyre PRIVATE $<BUILD_INTERFACE:gyre_build>)
  set_target_properties(gyre-client PROPERTIES EXPORT_NAME client VERSION ${PROJECT_VERSION} LINKER_LANGUAGE CXX
                        SOVERSION ${PROJECT_VERSION_MAJOR})
  install(TARGETS gyre-client EXPORT gyre-client)
  install(EXPORT gyre-client NAMESPACE gyre:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/gyre
          FILE gyreClientTargets.cmake)
endfunction()
