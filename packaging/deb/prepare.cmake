# Runs in cpack, when the files of each package are in place: adds the documents that Debian asks for, compresses them,
# and removes debug information from static libraries, which CMake leaves there.
foreach(component ${CPACK_COMPONENTS_ALL})
  string(TOUPPER ${component} upper)
  set(usr ${CPACK_TEMPORARY_DIRECTORY}/${component}/usr)
  set(documents ${usr}/share/doc/${CPACK_DEBIAN_${upper}_PACKAGE_NAME})
  file(COPY ${CMAKE_CURRENT_LIST_DIR}/copyright DESTINATION ${documents})
  string(TIMESTAMP now "%a, %d %b %Y %H:%M:%S +0000" UTC)  # of SOURCE_DATE_EPOCH, where it is set
  file(WRITE ${documents}/changelog.Debian
       "${CPACK_DEBIAN_${upper}_PACKAGE_NAME} (${CPACK_PACKAGE_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE}) unstable; "
       "urgency=medium\n\n  * Version ${CPACK_PACKAGE_VERSION}. CHANGELOG.md in the sources lists the changes.\n\n"
       " -- ${CPACK_DEBIAN_PACKAGE_MAINTAINER}  ${now}\n")
  file(GLOB pages ${documents}/changelog.Debian ${usr}/share/man/man1/*.1)
  execute_process(COMMAND gzip -9nf ${pages} COMMAND_ERROR_IS_FATAL ANY)
  file(GLOB_RECURSE libraries ${usr}/lib/*.a)
  if(libraries)
    execute_process(COMMAND strip --strip-debug --enable-deterministic-archives ${libraries} COMMAND_ERROR_IS_FATAL ANY)
  endif()
endforeach()
