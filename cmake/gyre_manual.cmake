# Manual pages, completions and units of the command gyre: made from its help, and installed as the component "tools".

function(gyre_install_manual)
  if(NOT GYRE_INSTALL)
    return()
  endif()
  install(FILES ${PROJECT_SOURCE_DIR}/packaging/systemd/gyre-serve.service
          ${PROJECT_SOURCE_DIR}/packaging/systemd/gyre-proxy.service
          DESTINATION lib/systemd/system COMPONENT tools)
  find_package(Python3 COMPONENTS Interpreter)
  if(NOT Python3_FOUND OR CMAKE_CROSSCOMPILING)
    message(STATUS "manual pages and completions are left out: they take Python, and a program that runs here")
    return()
  endif()
  set(made ${PROJECT_BINARY_DIR}/manual)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/packaging/manual/*)
  add_custom_command(OUTPUT ${made}/made
    COMMAND ${Python3_EXECUTABLE} -B ${PROJECT_SOURCE_DIR}/packaging/manual/write_manual.py $<TARGET_FILE:gyre_command>
            ${made}/man1
    COMMAND ${Python3_EXECUTABLE} -B ${PROJECT_SOURCE_DIR}/packaging/manual/write_completion.py
            $<TARGET_FILE:gyre_command> ${made}
    COMMAND ${CMAKE_COMMAND} -E touch ${made}/made
    DEPENDS gyre_command ${sources} ${PROJECT_SOURCE_DIR}/docs/guide/fetch.md
    VERBATIM)
  add_custom_target(gyre_manual ALL DEPENDS ${made}/made)
  # Optional: the target gyre_command alone does not make them.
  install(DIRECTORY ${made}/man1 DESTINATION ${CMAKE_INSTALL_MANDIR} COMPONENT tools OPTIONAL)
  set(share ${CMAKE_INSTALL_DATADIR})
  install(FILES ${made}/bash/gyre DESTINATION ${share}/bash-completion/completions COMPONENT tools OPTIONAL)
  install(FILES ${made}/zsh/_gyre DESTINATION ${share}/zsh/vendor-completions COMPONENT tools OPTIONAL)
  install(FILES ${made}/fish/gyre.fish DESTINATION ${share}/fish/vendor_completions.d COMPONENT tools OPTIONAL)
endfunction()
