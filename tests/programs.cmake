# The suite "programs": programs and examples, with real clients.

get_property(programs DIRECTORY ${PROJECT_SOURCE_DIR}/programs PROPERTY BUILDSYSTEM_TARGETS)
gyre_suite_has(programs ${programs})
foreach(folder examples examples/refactor examples/callbacks examples/cookbook)
  get_property(examples DIRECTORY ${PROJECT_SOURCE_DIR}/${folder} PROPERTY BUILDSYSTEM_TARGETS)
  gyre_suite_has(programs ${examples})
endforeach()

# Real clients test little of a compiler, and g++ compiles the same programs.
if(NOT CMAKE_CXX_COMPILER_ID STREQUAL Clang OR GYRE_SANITIZE MATCHES "thread")
  return()
endif()

# These scripts test what cannot differ between the backends: OpenSSL, parsers, pages.
set(on_one_backend tls_scanners_test tls_certificates_test fetch_like_curl_test client_proxies_test http_browser_test
    refactor_page_test script_test old_kernel_test manual_test)
set(long client_peers_test tls_scanners_test limits_test limits_threads_test refactor_http_test)  # they start first

gyre_backends_of(programs all_backends)
file(GLOB scripts CONFIGURE_DEPENDS programs/*_test.py resp/*_test.py)
foreach(script ${scripts})
  get_filename_component(name ${script} NAME_WE)
  if(name MATCHES "clients|browser|scanners" AND GYRE_SANITIZE)
    continue()
  endif()
  if(name MATCHES "limits" AND GYRE_SANITIZE)
    continue()  # the address sanitizer keeps freed memory, so the limits on memory do not hold
  endif()
  if(name MATCHES "attacks" AND NOT GYRE_TEST_ATTACKS)
    continue()  # attacks need an idle machine: see CONTRIBUTING.md
  endif()
  set(backends ${all_backends})
  if(name IN_LIST on_one_backend)
    list(GET all_backends 0 backends)
  endif()
  set(cost 0)
  if(name IN_LIST long)
    set(cost 2)
  endif()
  foreach(backend ${backends})
    gyre_run_test(programs.${name}.${backend} programs ${backend} ${Python3_EXECUTABLE} ${script} -v)
    set_tests_properties(programs.${name}.${backend} PROPERTIES SKIP_RETURN_CODE 77 COST ${cost} ENVIRONMENT
                         "GYRE_BACKEND=${backend};GYRE_BIN_DIR=${CMAKE_RUNTIME_OUTPUT_DIRECTORY}")
  endforeach()
endforeach()
