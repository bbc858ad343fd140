#!/usr/bin/env bash
# Installs gyre into a scratch folder, static and shared, and uses it the three ways in which others will.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export CXX=clang++-19

expect() {
  local output
  output=$("$@")
  [ "$output" = "gyre 0.1.0: 42" ] || { echo "consume: $*: got \"$output\"" >&2; exit 1; }
}

for shared in OFF ON; do
  cmake -G Ninja -S "$here/../.." -B "$scratch/build-$shared" -DCMAKE_INSTALL_PREFIX="$scratch/prefix-$shared" \
    -DBUILD_SHARED_LIBS=$shared -DGYRE_BUILD_TESTS=OFF -DGYRE_BUILD_PROGRAMS=OFF -DGYRE_BUILD_BENCH=OFF \
    -DCMAKE_BUILD_TYPE=Debug >/dev/null
  cmake --build "$scratch/build-$shared" --target install -- --quiet >/dev/null
  cmake -G Ninja -S "$here/find_package" -B "$scratch/find-$shared" -DCMAKE_PREFIX_PATH="$scratch/prefix-$shared" >/dev/null
  cmake --build "$scratch/find-$shared" -- --quiet
  expect "$scratch/find-$shared/consumer"
done

bash "$here/pkg_config/build.sh" "$scratch/prefix-OFF" "$scratch/consumer"
expect "$scratch/consumer"

cmake -G Ninja -S "$here/add_subdirectory" -B "$scratch/sub" >/dev/null
cmake --build "$scratch/sub" --target consumer -- --quiet
expect "$scratch/sub/consumer"
echo "consumers: find_package (static, shared), pkg-config and add_subdirectory work"
