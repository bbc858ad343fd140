# The layer tls is a library of its own, gyre::tls, because it needs OpenSSL 3.

# Declares and installs it. Call this after gyre_library.
function(gyre_tls_library)
  target_link_libraries(gyre_tls PRIVATE OpenSSL::SSL)
  add_library(gyre-tls $<TARGET_OBJECTS:gyre_tls>)
  add_library(gyre::tls ALIAS gyre-tls)
  target_link_libraries(gyre-tls PUBLIC gyre PRIVATE OpenSSL::SSL $<BUILD_INTERFACE:gyre_build>)
  set_target_properties(gyre-tls PROPERTIES EXPORT_NAME tls)
  gyre_set_version(gyre-tls)
  gyre_install_libraries(gyre-tls gyreTlsTargets.cmake gyre-tls)
  gyre_pkg_config(gyre-tls DESCRIPTION "TLS for the streams of gyre, with OpenSSL"
                  REQUIRES "gyre = ${PROJECT_VERSION}" STATIC_REQUIRES libssl libcrypto)
endfunction()
