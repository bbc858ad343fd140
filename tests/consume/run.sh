#!/usr/bin/env bash
# Installs gyre into a scratch folder, static (the result of ./gyre build) and shared, and uses it in the ways in which
# other projects will. They run at the same time, because each of them keeps one processor busy for half of it.
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

# installed static|shared: find_package and pkg-config.
installed() {
  local prefix=$scratch/prefix-$1 find=find-$1
  configure find_package "$find" -DCMAKE_PREFIX_PATH="$prefix"
  build "$find"
  expect "$scratch/$find/consumer"
  bash "$here/pkg_config/build.sh" "$prefix" gyre "$here/main.cpp" "$scratch/consumer-$1"
  expect "$scratch/consumer-$1"
  expect "$scratch/$find/client_consumer"
  bash "$here/pkg_config/build.sh" "$prefix" gyre-client "$here/client.cpp" "$scratch/client-$1"
  expect "$scratch/client-$1"
}

static_library() {
  cmake --install "$here/../../build/release" --prefix "$scratch/prefix-static" >/dev/null
  installed static
  [[ $("$scratch/prefix-static/bin/gyre" --version) == "gyre 0.1.0"* ]] ||
    { echo "consume: the installed command does not run" >&2; exit 1; }
}

# One build of the library is both: part of a consumer's own tree, and what that tree installs.
shared_library() {
  configure fetch_content fetch -DBUILD_SHARED_LIBS=ON -DCMAKE_UNITY_BUILD=ON
  build fetch
  expect "$scratch/fetch/consumer"
  cmake --install "$scratch/fetch" --prefix "$scratch/prefix-shared" >/dev/null
  installed shared
}

plugins() {
  configure add_subdirectory sub -DCMAKE_UNITY_BUILD=ON
  build sub --target plugins
  local plugins=("$scratch/sub/libfirst_plugin.so" "$scratch/sub/libsecond_plugin.so") backend
  ! nm -DC --defined-only "${plugins[0]}" | grep gyre ||
    { echo "consume: a plugin exports these symbols of the static library that it contains" >&2; exit 1; }
  for backend in io_uring epoll; do
    GYRE_BACKEND=$backend expect "$scratch/sub/plugin_host" "${plugins[@]}"
    GYRE_BACKEND=$backend expect "$scratch/sub/plugin_host_with_gyre" "${plugins[@]}"
  done
}

"$here/../../gyre" build release
running=()
for each in static_library shared_library plugins; do
  "$each" >"$scratch/$each.log" 2>&1 &
  running+=("$each" $!)
done
failed=
for ((i = 0; i < ${#running[@]}; i += 2)); do
  wait "${running[i + 1]}" || { cat "$scratch/${running[i]}.log"; failed=yes; }
done
[ -z "$failed" ] || exit 1

echo "consumers: find_package and pkg-config (static, shared), FetchContent, add_subdirectory, plugins and the" \
  "installed command work"
