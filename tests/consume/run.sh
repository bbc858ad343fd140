#!/usr/bin/env bash
# Installs gyre into a scratch folder, static (the result of ./gyre build) and shared, and uses it in the ways in which
# other projects will.
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

configure() { cmake -G Ninja -S "$here/$1" -B "$scratch/$2" "${@:3}" >/dev/null; }
build() { cmake --build "$scratch/$1" "${@:2}" -- --quiet; }

"$here/../../gyre" build release
cmake --install "$here/../../build/release" --prefix "$scratch/prefix-static" >/dev/null
# One build of the library is both: part of a consumer's own tree, and what that tree installs.
configure fetch_content fetch -DBUILD_SHARED_LIBS=ON -DCMAKE_UNITY_BUILD=ON
build fetch
expect "$scratch/fetch/consumer"
cmake --install "$scratch/fetch" --prefix "$scratch/prefix-shared" >/dev/null

configure add_subdirectory sub -DCMAKE_UNITY_BUILD=ON
build sub --target plugins
plugins=("$scratch/sub/libfirst_plugin.so" "$scratch/sub/libsecond_plugin.so")
! nm -DC --defined-only "${plugins[0]}" | grep gyre ||
  { echo "consume: a plugin exports these symbols of the static library that it contains" >&2; exit 1; }
for backend in io_uring epoll; do
  GYRE_BACKEND=$backend expect "$scratch/sub/plugin_host" "${plugins[@]}"
  GYRE_BACKEND=$backend expect "$scratch/sub/plugin_host_with_gyre" "${plugins[@]}"
done

for kind in static shared; do
  prefix=$scratch/prefix-$kind
  configure find_package "find-$kind" -DCMAKE_PREFIX_PATH="$prefix"
  build "find-$kind"
  expect "$scratch/find-$kind/consumer"
  bash "$here/pkg_config/build.sh" "$prefix" gyre "$here/main.cpp" "$scratch/consumer-$kind"
  expect "$scratch/consumer-$kind"
  [ -e "$scratch/find-$kind/client_consumer" ] || continue  # where OpenSSL is absent
  expect "$scratch/find-$kind/client_consumer"
  bash "$here/pkg_config/build.sh" "$prefix" gyre-client "$here/client.cpp" "$scratch/client-$kind"
  expect "$scratch/client-$kind"
done

[[ $("$scratch/prefix-static/bin/gyre" --version) == "gyre 0.1.0"* ]] ||
  { echo "consume: the installed command does not run" >&2; exit 1; }

echo "consumers: find_package and pkg-config (static, shared), FetchContent, add_subdirectory, plugins and the installed" \
  "command work"
