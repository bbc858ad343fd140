#!/usr/bin/env bash
# Fuzzes each target for so many seconds (20), two at a time: tests/fuzz/run.sh [SECONDS]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

export seconds=${1:-20}
export out=build/fuzz
mkdir -p "$out/parts"
export flags="-std=c++23 -O1 -g -I. -Iinclude -Isrc/http -fsanitize=address,undefined -fno-sanitize-recover=undefined"

# The fuzzed code takes bytes and returns values: it needs neither a loop nor a socket.
parts="byte_range characters cookie field field_line host http_date media_type multipart_decoder multipart_part
  negotiation parameters parse_error precondition status target target_check"
http1_parts="body_decoder chunked_decoder framing head_parser head_writer"
client_parts="cookie_date cookie_jar dot_segments public_suffix response_input url url_reader"
others="io/kernel io/blocking_pool io/pool_state io/buffer_pool net/address net/host_port io/io_error io/line_output
  io/owned_fd io/printable"
printf '%s\n' $(printf 'http/semantics/%s ' $parts) $(printf 'http/http1/%s ' $http1_parts) \
  $(printf 'client/%s ' $client_parts) $others |
  xargs -P2 -I{} sh -c 'clang++-19 $flags -fsanitize=fuzzer-no-link -c "src/{}.cpp" -o "$out/parts/$(basename {}).o"'

fuzz() {
  local name
  name=$(basename "$1" _fuzz.cpp)
  # shellcheck disable=SC2086
  clang++-19 $flags -fsanitize=fuzzer "$1" "$out"/parts/*.o -o "$out/$name"
  mkdir -p "$out/corpus/$name"
  # A finding is left beside the corpus, and goes into a test.
  "$out/$name" -max_total_time="$seconds" -max_len=4096 -verbosity=0 -print_final_stats=1 \
    -artifact_prefix="$out/$name-" "$out/corpus/$name" "tests/fuzz/seeds/$name" >"$out/$name.log" 2>&1 || {
    cat "$out/$name.log" >&2
    echo "fuzz: $name failed, see $out" >&2
    return 1
  }
  echo "$name: $(grep executed_units "$out/$name.log")"
}
export -f fuzz
printf '%s\n' tests/fuzz/*_fuzz.cpp | xargs -P2 -I{} bash -c 'set -euo pipefail; fuzz {}'
