#!/usr/bin/env bash
# Installs gyre into a scratch folder, static (the result of ./gyre build) and shared, and uses it in the three ways in
# which other projects will.
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

"$here/../../gyre" build release
cmake --install "$here/../../build/release" --prefix "$scratch/prefix-static" >/dev/null
# One build of the library is both: part of a consumer's own tree, and what that tree installs.
cmake -G Ninja -S "$here/add_subdirectory" -B "$scratch/sub" -DBUILD_SHARED_LIBS=ON -DCMAKE_UNITY_BUILD=ON >/dev/null
cmake --build "$scratch/sub" -- --quiet
expect "$scratch/sub/consumer"
cmake --install "$scratch/sub" --prefix "$scratch/prefix-shared" >/dev/null

for kind in static shared; do
  cmake -G Ninja -S "$here/find_package" -B "$scratch/find-$kind" -DCMAKE_PREFIX_PATH="$scratch/prefix-$kind" >/dev/null
  cmake --build "$scratch/find-$kind" -- --quiet
  expect "$scratch/find-$kind/consumer"
  if [ -e "$scratch/find-$kind/client_consumer" ]; then expect "$scratch/find-$kind/client_consumer"; fi
done

bash "$here/pkg_config/build.sh" "$scratch/prefix-static" "$scratch/consumer"
expect "$scratch/consumer"

echo "consumers: find_package (static, shared), pkg-config and add_subdirectory work"
