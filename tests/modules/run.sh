#!/usr/bin/env bash
# Builds and runs a program that imports the module gyre, with clang 19: by calling the compiler, and by CMake if there
# is one from 3.28 (of .ci/run in build/python, or in PATH). Needs the libraries of ./gyre build release.
set -euo pipefail
root=$(realpath "$(dirname "${BASH_SOURCE[0]}")/../..")
scratch=$root/build/modules
rm -rf "$scratch"
mkdir -p "$scratch"
cd "$scratch"
python=$root/build/python/bin/python
[[ -x $python ]] || python=python3
if $python -c "import clang.cindex" 2>/dev/null; then
  $python "$root/tools/module_interface.py" --check
else
  echo "skipped: names of the module: the bindings of libclang are not installed"
fi

cmake --install "$root/build/release" --prefix "$scratch/installed" --component development >install.log

export PKG_CONFIG_PATH=$scratch/installed/lib/pkgconfig
flags="-std=c++23 -O1 -pthread $(pkg-config --cflags gyre)"
clang++-19 $flags --precompile installed/lib/cmake/gyre/gyre.cppm -o gyre.pcm
clang++-19 -std=c++23 -O1 -pthread gyre.pcm -c -o gyre.o
clang++-19 $flags -fmodule-file=gyre=gyre.pcm "$root/tests/modules/program.cpp" gyre.o $(pkg-config --libs gyre) \
  -o program
[[ $(./program) == "120 1 bytes" ]]
echo "import gyre: by calling clang"

cmake=cmake
[[ ! -x $root/build/python/bin/cmake ]] || cmake=$root/build/python/bin/cmake
version=$("$cmake" --version | sed -n '1s/cmake version //p')
if [[ $(printf '3.28\n%s\n' "$version" | sort -V | head -1) != 3.28 ]]; then
  echo "skipped: import gyre by CMake: $version is older than 3.28"
  exit
fi
"$cmake" -G Ninja -S "$root/tests/modules" -B by_cmake -DCMAKE_CXX_COMPILER=clang++-19 -DCMAKE_BUILD_TYPE=Release \
  -DCMAKE_PREFIX_PATH="$scratch/installed" >cmake.log
"$cmake" --build by_cmake >build.log || { cat build.log; exit 1; }
[[ $(by_cmake/program) == "120 1 bytes" ]]
echo "import gyre: by CMake $version"
