#!/usr/bin/env python3
"""Uses gyre in each way that docs/guide/installing.md describes, in clean directories, with clang++-19 and g++:

    tests/packages/run.py [WAY...]     all ways, or some; see WAYS

The ways run at the same time where one does not need another's result. build/packages holds what they made."""

import shutil
import sys
import time
from concurrent.futures import ThreadPoolExecutor

from guide import INSTALLING, ROOT
from project import HERE, SCRATCH, SOURCE, copy_source, failed, project
from vcpkg_port import vcpkg_port

CLANG, GCC = "clang++-19", "g++"
RELEASE = ROOT / "build/release"


def finds(name, compiler, prefix):
    """A project that finds an installed gyre."""
    consumer = project(f"find_package {name}", compiler)
    (consumer.folder / "installed").symlink_to(prefix)
    consumer.follow("project")
    consumer.follow("install", slice(1, 2))
    consumer.must_serve("build")
    return consumer


def uses_pkg_config(name, compiler, prefix):
    consumer = project(f"pkg-config {name}", compiler)
    (consumer.folder / "installed").symlink_to(prefix)
    consumer.follow("pkg-config")
    consumer.must_serve()
    consumer.run("export PKG_CONFIG_PATH=$PWD/installed/lib/pkgconfig; "
                 "$CXX -std=c++23 gyre/packaging/conan/test_package/client.cpp -o client "
                 '$(pkg-config --cflags --libs gyre-client) -Wl,-rpath,"$(pkg-config --variable=libdir gyre)"')
    consumer.must_print("./client", "gyre 0.1.0: 42")


def shared_libraries():
    """Installed from source by clang, used by both compilers."""
    builder = project("install shared", CLANG, shared=True)
    builder.follow("project")
    builder.follow("install")
    builder.must_serve("build")
    prefix = builder.folder / "installed"
    builder.run(f"python3 {ROOT}/tools/check_exports.py installed/lib/*.so")
    finds("shared", GCC, prefix)
    uses_pkg_config("shared", CLANG, prefix)


def static_libraries():
    """The result of ./gyre build, used by both compilers."""
    builder = project("install static", CLANG)
    prefix = builder.folder / "installed"
    builder.run(f"cmake --install {RELEASE} --prefix installed")
    builder.must_print("installed/bin/gyre --version | cut -d' ' -f1,2", "gyre 0.1.0")
    echo = finds("static", CLANG, prefix)
    echo.must_print("nm -C build/echo | grep -c 'gyre::http::' || true", "0")  # as the page says
    uses_pkg_config("static", GCC, prefix)
    misses_components(prefix)


def misses_components(prefix):
    """A component that is not there stops CMake with a sentence."""
    consumer = project("components", CLANG)

    def finds_components(components, options=""):
        (consumer.folder / "CMakeLists.txt").write_text(
            f"cmake_minimum_required(VERSION 3.25)\nproject(p CXX)\nfind_package(gyre 0.1 {components})\n"
            "message(STATUS \"OpenSSL: ${OPENSSL_FOUND}, tls: ${gyre_tls_FOUND}\")\n")
        return f"rm -rf b && cmake -G Ninja -B b -DCMAKE_PREFIX_PATH={prefix} {options}"

    consumer.must_say(finds_components("REQUIRED COMPONENTS core web"),
                      "component web: there is none of that name; the components are core, http, tls, client, uring "
                      "and module")
    no_openssl = "-DCMAKE_DISABLE_FIND_PACKAGE_OpenSSL=ON"
    consumer.must_say(finds_components("REQUIRED COMPONENTS client", no_openssl),
                      "component client: OpenSSL 3 is not found")
    for components, options, expected in (("REQUIRED COMPONENTS core uring", "", "OpenSSL: , tls: FALSE"),
                                          ("REQUIRED OPTIONAL_COMPONENTS tls", no_openssl, "tls: FALSE"),
                                          ("REQUIRED", no_openssl, "tls: FALSE"),
                                          ("REQUIRED", "", "OpenSSL: TRUE, tls: TRUE")):
        if expected not in consumer.run(finds_components(components, options)):
            raise failed(f"find_package(gyre 0.1 {components}) {options}: not {expected}")


def installed_components():
    """Each component of an installation can be installed alone."""
    builder = project("installed components", CLANG)
    for component in ("development", "runtime", "tools"):
        builder.run(f"cmake --install {RELEASE} --prefix {component} --component {component}")
    builder.must_print("find tools -type f -path '*/bin/*'", "tools/bin/gyre")
    builder.must_print("ls development", "include\nlib")
    builder.must_print("ls runtime 2>/dev/null || true", "")  # the build is static


def source_archive():
    """The archive of the last commit, the same each time, and its valid SPDX document. Returns its directory."""
    builder = project("source archive", GCC)
    builder.must_print(f"{ROOT}/tools/release --sources >/dev/null; cp {ROOT}/build/dist/SHA256SUMS . ; "
                       f"{ROOT}/tools/release --sources >/dev/null; cmp SHA256SUMS {ROOT}/build/dist/SHA256SUMS", "")
    builder.run(f"{ROOT}/build/python/bin/pyspdxtools --infile {ROOT}/build/dist/gyre-0.1.0.spdx.json")
    builder.run(f"{ROOT}/build/python/bin/cffconvert --validate --infile {ROOT}/CITATION.cff")
    builder.follow("archive")
    return builder.folder / "gyre-0.1.0"


def fetched():
    """A project with the source archive inside, built by g++. It installs gyre only when it asks for that."""
    consumer = project("FetchContent", GCC, shared=False, source=source_archive())
    consumer.follow("fetch-content")
    consumer.must_serve("build")
    consumer.must_print("cmake --install build --prefix installed >install.log && ls -A installed 2>/dev/null || true",
                        "")
    consumer.run(f"cp {HERE}/installing_parent/CMakeLists.txt . && cmake -B build -DCMAKE_BUILD_TYPE=Release && "
                 "cmake --build build && cmake --install build --prefix installed")
    consumer.must_serve("installed/bin")
    (consumer.folder / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.25)\nproject(user CXX)\nfind_package(gyre 0.1 REQUIRED)\n"
        "find_package(parent REQUIRED)\nadd_executable(hello hello.cpp)\n"
        "target_link_libraries(hello PRIVATE greeting)\n")
    consumer.run("cmake -G Ninja -B user -DCMAKE_PREFIX_PATH=$PWD/installed && cmake --build user")


def ten_minutes():
    """The first program of the guide, with gyre in a folder beside it. check_docs.py runs the other ones."""
    beginner = project("ten minutes", CLANG)
    printed = beginner.follow("ten-minutes")
    if not printed.endswith("\n9\n"):
        raise failed(f"{beginner.name}: the first program does not print 9: {printed[-500:]}")


def plugins():
    """Shared objects that contain the static library, built by add_subdirectory without TLS."""
    builder = project("plugins", CLANG)
    builder.run(f"cmake -G Ninja -S {SOURCE}/tests/packages/plugins -B sub -DCMAKE_UNITY_BUILD=ON && "
                "cmake --build sub --target plugins")
    builder.must_print("nm -DC --defined-only sub/libfirst_plugin.so | grep gyre || true", "")
    for backend in ("io_uring", "epoll"):
        for host in ("plugin_host", "plugin_host_with_gyre"):
            builder.must_print(f"GYRE_BACKEND={backend} sub/{host} sub/libfirst_plugin.so sub/libsecond_plugin.so",
                               "gyre 0.1.0: 42")


def conan():
    """The recipe in a fresh home of Conan, which may ask no server."""
    consumer = project("Conan", CLANG)
    home = consumer.folder / ".conan2"
    home.mkdir()
    (home / "global.conf").write_text("core:non_interactive=True\ntools.cmake.cmaketoolchain:generator=Ninja\n"
                                      f"tools.cmake.cmaketoolchain:user_toolchain=['{HERE}/toolchain.cmake']\n")
    consumer.environment["PATH"] = f"{ROOT}/build/python/bin:{consumer.environment['PATH']}"
    consumer.run("conan remote disable '*'")
    consumer.follow("project")
    consumer.follow("conan")
    consumer.must_serve("build")


def debian():
    """The two packages, which lintian accepts, unpacked into an empty root, which stands for that of the system."""
    builder = project("Debian", CLANG)
    builder.follow("debian", slice(0, 1))
    builder.must_print("ls packages | grep deb$", "gyre_0.1.0-1_amd64.deb\nlibgyre-dev_0.1.0-1_amd64.deb")
    if shutil.which("lintian"):
        builder.run("lintian --allow-root --fail-on error packages/*.deb")
    else:
        print("skipped: lintian is not installed")
    builder.run("for each in packages/*.deb; do dpkg -x $each root; done; "
                "dpkg -f packages/libgyre-dev*.deb Depends | grep libssl-dev; "
                "dpkg -f packages/gyre_*.deb Depends | grep libstdc++6")
    builder.must_print("root/usr/bin/gyre --version | cut -d' ' -f1,2", "gyre 0.1.0")
    for compiler in (CLANG, GCC):
        consumer = project("Debian's packages", compiler)
        consumer.environment["CMAKE_PREFIX_PATH"] = str(builder.folder / "root/usr")
        consumer.follow("project")
        consumer.follow("debian", slice(1, None))
        consumer.must_serve("build")


def abi_check():
    """tools/check_abi finds what it should in small libraries."""
    if shutil.which("abidiff"):
        project("abi", GCC).run(f"{ROOT}/tools/check_abi --self-test")
    else:
        print("skipped: abidiff is not installed")


# The longest ones first.
WAYS = [shared_libraries, fetched, ten_minutes, conan, plugins, static_libraries, debian, installed_components,
        vcpkg_port, abi_check]


def main():
    names = [each.__name__ for each in WAYS]
    unknown = set(sys.argv[1:]) - set(names)
    if unknown:
        sys.exit(f"no way {', '.join(unknown)}; there are: {' '.join(names)}")
    unread = set(INSTALLING) - {"project", "install", "pkg-config", "fetch-content", "conan", "debian", "archive"}
    if unread:
        sys.exit(f"docs/guide/installing.md has chapters that nothing follows: {unread}")
    copy_source()
    (SOURCE / "build").symlink_to(ROOT / "build")  # of the release build, which is not made again

    def timed(way):
        began = time.monotonic()
        try:
            way()
        except failed as error:
            return way.__name__, time.monotonic() - began, str(error)
        return way.__name__, time.monotonic() - began, None

    with ThreadPoolExecutor(3) as pool:
        done = list(pool.map(timed, [each for each in WAYS if each.__name__ in (sys.argv[1:] or names)]))
    for name, seconds, problem in done:
        print(f"{seconds:7.0f}  {name}{'' if problem is None else ': FAILED'}")
    for _, _, problem in done:
        if problem:
            print(problem)
    if any(problem for _, _, problem in done):
        sys.exit(1)
    print(f"{len(done)} ways to get gyre work; {SCRATCH.relative_to(ROOT)} holds what they built")


if __name__ == "__main__":
    main()
