"""Builds and runs a program that uses the package."""

import os

from conan import ConanFile
from conan.tools.build import can_run
from conan.tools.cmake import CMake, cmake_layout


class GyreTest(ConanFile):
    settings = "os", "arch", "compiler", "build_type"
    generators = "CMakeDeps", "CMakeToolchain"

    def requirements(self):
        self.requires(self.tested_reference_str)

    def layout(self):
        cmake_layout(self)

    def build(self):
        if self._has_client():
            cmake = CMake(self)
            cmake.configure()
            cmake.build()

    def test(self):
        if self._has_client() and can_run(self):
            self.run(os.path.join(self.cpp.build.bindir, "client"), env="conanrun")

    def _has_client(self):
        return self.dependencies["gyre"].options.tls
