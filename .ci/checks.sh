# The checks of .ci/run that are not scripts of their own. Sourced by .ci/run.

# Everything that a later step needs: nothing is installed while a build runs beside tests.
install_packages() {
  local missing=() pair
  # Servers, proxies, scanners and clients of others, with which the tests compare. A test skips those that are absent.
  for pair in clang-tidy-19:clang-tidy-19 qemu-system-x86_64:qemu-system-x86 busybox:busybox-static cpio:cpio \
    nginx:nginx-light apache2:apache2 squid:squid tinyproxy:tinyproxy-bin danted:dante-server sslscan:sslscan \
    testssl:testssl.sh haproxy:haproxy valgrind:valgrind strace:strace \
    lintian:lintian abidiff:abigail-tools \
    aspell:aspell chromium:chromium \
    mandoc:mandoc fish:fish zsh:zsh \
    pg_createcluster:postgresql; do
    PATH=$PATH:/usr/sbin command -v "${pair%:*}" >/dev/null || missing+=("${pair#*:}")
  done
  [ -e /usr/lib/nginx/modules/ngx_stream_module.so ] || missing+=(libnginx-mod-stream)
  [ -e /usr/lib/aspell/en_GB.multi ] || missing+=(aspell-en)
  python3 -c 'import ensurepip' 2>/dev/null || missing+=(python3-venv)
  install "${missing[@]}"
  ./gyre install asan
  ./gyre install libcxx
  ./gyre install python
  if command -v npm >/dev/null; then
    mkdir -p build/node
    cp tests/node/package.json tests/node/package-lock.json build/node
    npm ci --silent --prefix build/node
    export NODE_PATH=$PWD/build/node/node_modules
  fi
  export GYRE_PEERS_PYTHON=$PWD/build/python/bin/python
}

install() {
  [ $# -gt 0 ] || return 0
  apt-get update -qq
  # This run level starts no service.
  RUNLEVEL=1 DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@" >/dev/null
}

check_format() {
  command -v clang-format-19 >/dev/null || install clang-format-19
  git ls-files '*.hpp' '*.cpp' | xargs -P2 -n100 clang-format-19 --dry-run -Werror
  # clang-format does not break comments.
  ! git ls-files '*.hpp' '*.cpp' '*.py' '*.sh' '*.cmake' '*CMakeLists.txt' gyre .ci/run |
    LC_ALL=C.UTF-8 xargs grep -nE '^.{121}' || { echo 'lines of more than 120 columns: break them'; return 1; }
  ! git ls-files '*.py' | xargs wc -l | grep -v ' total$' | awk '$1 > 300' | grep . ||
    { echo 'Python files of more than 300 lines: split them by subject'; return 1; }
}

# build_ahead PRESET...: builds the first of them that has suites, at low priority, while the tests of the preset
# before run. Its turn to be tested begins the build of the next.
build_ahead() {
  waiting=("$@")
  while [ ${#waiting[@]} -gt 0 ] && [ -z "${suites[${waiting[0]}]}" ]; do waiting=("${waiting[@]:1}"); done
  [ ${#waiting[@]} -gt 0 ] || { ahead=; return 0; }
  set -m  # a process group of its own, which can be ended; setsid would give it as much of the processor as the tests
  nice -n 19 ./gyre build "${waiting[0]}" ${suites[${waiting[0]}]//,/ } >"build/${waiting[0]}.log" 2>&1 &
  ahead=$!
  set +m
}
ahead=
waiting=()

test_preset() {
  wait "$ahead" || { cat "build/$1.log"; return 1; }
  build_ahead "${waiting[@]:1}"
  ./gyre test "$1" --only "${suites[$1]}"
}

# Runs without the analyzer, which takes two thirds of the time and understands neither coroutines nor intrusive
# ownership. CONTRIBUTING.md tells how to run it by hand. The unity build joins the library and the programs into few
# files, so that their headers are read ten times less. A failure also shows crashes of clang-tidy itself.
check_tidy() {
  rm -rf build/tidy  # otherwise the unity files of deleted sources would stay
  cmake --preset release -B build/tidy -DGYRE_UNITY_BUILD=ON -DGYRE_BUILD_TESTS=OFF -DGYRE_BUILD_BENCH=OFF >/dev/null
  python3 -c '
import json, re
for each in json.load(open("build/tidy/compile_commands.json")):
    if not re.search("/examples/", each["file"]):
        print(each["file"])' |
    GLIBC_TUNABLES=glibc.malloc.hugetlb=1 xargs -P2 -n2 clang-tidy-19 --quiet -p build/tidy \
      --checks='-clang-analyzer-*,-bugprone-suspicious-include' 2>build/tidy/stderr ||
    { grep -vE 'warnings? generated|Processing file|^[.]$' build/tidy/stderr; return 1; }
}

# Builds the documentation site, which fails on a page that is not in its navigation, and checks it.
check_site() {
  ./gyre docs &&
    build/site-venv/bin/python tools/site/check.py &&
    python3 tools/site/spelling.py
}

# Uses the site with the keyboard, searches for names, and looks for faults of accessibility, in a headless Chromium.
use_site() {
  command -v npm >/dev/null || { echo "skipped: no npm"; return 0; }
  node tools/site/browser/search.cjs &&
    node tools/site/browser/accessibility.cjs
}

# An emulator is slow on a busy machine: a failure is retried once.
encrypted_by_kernel() {
  export GTEST_FILTER='https_files*'
  tests/kernel/run.sh gyre_tls_test || tests/kernel/run.sh gyre_tls_test
}

# Debian 12 has Linux 6.1, Debian 11 has 5.10, whose packages may be gone.
contract_on_kernels() {
  local code=0
  tests/kernel/run.sh contract
  KERNEL_OF=bullseye tests/kernel/run.sh contract || code=$?
  [ "$code" = 0 ] || [ "$code" = 77 ]
}

# Counts that this machine cannot compare are no failure: the list of what was skipped names them.
check_budgets() {
  local code=0
  python3 bench/budgets.py | tee build/budgets.txt || code=${PIPESTATUS[0]}
  [ "$code" = 77 ] || return "$code"
}
