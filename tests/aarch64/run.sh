#!/usr/bin/env bash
# Builds suites for aarch64 with Debian's cross compiler, and runs them under QEMU on epoll: the emulator of programs
# has no io_uring.
#
#   tests/aarch64/run.sh [SUITE...]     coro, loop, sync and tasks, or the suites named
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

missing=()
command -v aarch64-linux-gnu-g++ >/dev/null || missing+=(g++-aarch64-linux-gnu)
command -v qemu-aarch64-static >/dev/null || missing+=(qemu-user-static)
if [ ${#missing[@]} -gt 0 ]; then
  apt-get update -qq
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
fi

suites=("$@")
[ $# -gt 0 ] || suites=(coro loop sync tasks)
root=$PWD/build/aarch64-sysroot

# Downloads packages of Debian for arm64 and unpacks them into a folder. The system's own list of packages stays.
make_sysroot() {
  local apt=$PWD/build/aarch64-packages link
  rm -rf "$root" "$apt"
  mkdir -p "$root" "$apt"/{state/lists,cache/archives}/partial
  local options=(-o "Dir::State=$apt/state" -o "Dir::Cache=$apt/cache" -o Dir::State::status=/dev/null
    -o APT::Architecture=arm64 -o APT::Architectures=arm64 -o APT::Sandbox::User=root)
  apt-get "${options[@]}" update -qq
  (cd "$apt" && apt-get "${options[@]}" download -qq libssl-dev libssl3 zlib1g-dev zlib1g libbrotli-dev libbrotli1 \
    libzstd-dev libzstd1 libgtest-dev googletest)
  for package in "$apt"/*.deb; do dpkg -x "$package" "$root"; done
  cp -a "$root"/lib/. "$root/usr/lib/"  # where programs look for the libraries that they were linked with
  while read -r link; do  # a link to /lib/... means the folder
    ln -sfn "$root$(readlink "$link")" "$link"
  done < <(find "$root" -type l -lname '/*')
  touch "$root/complete"
}

# What the emulator cannot do, not gyre. It does not start itself again for a program that starts itself, as death tests
# with several threads do. And it reports an abort on standard error, where one test has left no room.
skipped=('*death_threads.*' other_loop_event_loop_death.a_loop_that_another_thread_ends
  forked_child.that_awaits_something_of_its_parents_loop_stops_with_a_sentence
  forked_child.can_use_a_pool_that_another_thread_used_for_the_first_time_during_the_fork
  misuse.ends_the_program_although_standard_error_takes_nothing)
GTEST_FILTER="-$(IFS=:; echo "${skipped[*]}")"
export GTEST_FILTER

[ -e "$root/complete" ] || make_sysroot
cmake --preset aarch64 >build/aarch64.log || { cat build/aarch64.log; exit 1; }
cmake --build build/aarch64 --target "${suites[@]/#/suite_}" -- --quiet
ctest --test-dir build/aarch64 --output-on-failure -j3 --output-junit tests.xml --test-output-size-passed 1000000 \
  -L "^($(IFS='|'; echo "${suites[*]}"))\$" -LE io_uring
