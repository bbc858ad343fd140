"""The recipe of gyre for Conan 2, in the source tree that it packages: conan create packaging/conan

OpenSSL and the libraries of compression come from the system, as in a build without Conan."""

import re
from pathlib import Path

from conan import ConanFile
from conan.errors import ConanInvalidConfiguration
from conan.tools.cmake import CMake, CMakeToolchain, cmake_layout
from conan.tools.files import copy, load
from conan.tools.system.package_manager import Apt, Dnf, PacMan

required_conan_version = ">=2.0"


class GyreRecipe(ConanFile):
    name = "gyre"
    license = "MIT"
    description = "Coroutines, event loops and network streams for Linux"
    topics = ("coroutines", "io_uring", "epoll", "http", "networking")
    package_type = "library"
    settings = "os", "arch", "compiler", "build_type"
    options = {"shared": [True, False], "fPIC": [True, False], "tls": [True, False]}
    default_options = {"shared": False, "fPIC": True, "tls": True}
    implements = ["auto_shared_fpic"]

    @property
    def _root(self):
        return Path(self.recipe_folder).parent.parent

    def set_version(self):
        text = load(self, str(self._root / "CMakeLists.txt"))
        self.version = re.search(r"project\(gyre VERSION ([\d.]+)", text)[1]

    def export_sources(self):
        for pattern in ("CMakeLists.txt", "LICENSE", "cmake/*", "include/*", "src/*"):
            copy(self, pattern, str(self._root), self.export_sources_folder)

    def validate(self):
        if self.settings.os != "Linux":
            raise ConanInvalidConfiguration("gyre runs on Linux only")

    def package_id(self):
        self.info.settings.rm_safe("compiler.cppstd")  # it is compiled as C++23, whatever uses it

    def system_requirements(self):
        if self.options.tls:
            Apt(self).install(["libssl-dev"], check=True)
            Dnf(self).install(["openssl-devel"], check=True)
            PacMan(self).install(["openssl"], check=True)

    def layout(self):
        cmake_layout(self)

    def generate(self):
        toolchain = CMakeToolchain(self)
        toolchain.cache_variables["GYRE_TLS"] = bool(self.options.tls)
        for part in ("TESTS", "PROGRAMS", "BENCH"):
            toolchain.cache_variables[f"GYRE_BUILD_{part}"] = False
        toolchain.generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self):
        CMake(self).install()
        copy(self, "LICENSE", self.source_folder, str(Path(self.package_folder, "licenses")))

    def package_info(self):
        # find_package reads the files that gyre installs: every way of building gives the same targets and components.
        self.cpp_info.set_property("cmake_find_mode", "none")
        self._library("gyre", [])
        self.cpp_info.components["gyre"].builddirs = ["lib/cmake/gyre"]
        if self.options.tls:
            self._library("gyre-tls", ["gyre"])
            self._library("gyre-client", ["gyre-tls"])

    def _library(self, name, requires):
        """A component for build tools other than CMake. Its own .pc file lists the libraries of the system."""
        text = load(self, str(Path(self.package_folder, "lib/pkgconfig", f"{name}.pc")))
        component = self.cpp_info.components[name]
        component.libs = [name]
        component.requires = requires
        component.set_property("pkg_config_name", name)
        flags = re.search(r"^Libs:(.*)$", text, re.M)[1]
        component.system_libs = [each for each in re.findall(r" -l(\S+)", flags) if each != name] + ["pthread"]
        component.system_libs += ["ssl", "crypto"] if name == "gyre-tls" else []
        component.defines = re.findall(r" -D(\S+)", re.search(r"^Cflags:(.*)$", text, re.M)[1])
