#!/usr/bin/env bash
# Builds the consumer with nothing but pkg-config: build.sh PREFIX OUTPUT
set -euo pipefail
export PKG_CONFIG_PATH="$1/lib/pkgconfig:$1/lib/x86_64-linux-gnu/pkgconfig"
# shellcheck disable=SC2046
clang++-19 -std=c++23 $(pkg-config --cflags gyre) "$(dirname "$0")/../main.cpp" $(pkg-config --libs gyre) -o "$2"
