#!/usr/bin/env bash
# Builds a program with nothing but pkg-config: build.sh PREFIX PACKAGE SOURCE OUTPUT
set -euo pipefail
export PKG_CONFIG_PATH="$1/lib/pkgconfig:$1/lib/x86_64-linux-gnu/pkgconfig"
# shellcheck disable=SC2046
clang++-19 -std=c++23 $(pkg-config --cflags "$2") "$3" $(pkg-config --libs "$2") \
  "-Wl,-rpath,$(pkg-config --variable=libdir "$2")" -o "$4"
