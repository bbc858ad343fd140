# The steps of .ci/run, and the table with which it ends: step, seconds, why it ran or not. Sourced by .ci/run.

table=()
running=
finished=  # set by .ci/run behind its last step: a shell that a signal ends runs the trap, too, and with status 0
tested=$(git rev-parse HEAD)
[ -z "$(git status --porcelain)" ] || tested='a tree with changes'
rm -f build/*/tests.xml build/budgets.txt  # of earlier runs

# step NAME WHY COMMAND...
step() {
  local name=$1 reason=$2 from=$SECONDS
  shift 2
  running=$name
  printf '\n== %s\n' "$name"
  "$@"
  running=
  table+=("$(printf '%7d  %-52s %s' $((SECONDS - from)) "$name" "$reason")")
}

# step_for SUITES NAME COMMAND...: a step that runs only when the change reaches a suite.
step_for() {
  local found=$1 name=$2
  shift 2
  if [ -n "$found" ]; then
    step "$name" "$why: ${found//,/ }" "$@"
  else
    table+=("$(printf '%7s  %-52s %s' - "$name" "did not run: $why reaches nothing of it")")
  fi
}

end() {
  local code=$1
  [ -z "$ahead" ] || kill -- "-$ahead" 2>/dev/null || true
  [ -z "$running" ] || table+=("$(printf '%7s  %s' FAILED "$running")")
  printf '\n%7s  %-52s %s\n' seconds step why
  printf '%s\n' "${table[@]}"
  if compgen -G 'build/*/tests.xml' >/dev/null; then
    printf '\nskipped:\n'
    python3 tools/skipped.py build/*/tests.xml
    echo
  fi
  ! grep -s '^skipped: ' build/budgets.txt || echo
  if [ "$code" != 0 ] || [ -z "$finished" ]; then
    printf '%7d  the checks failed\n' "$SECONDS"
    return
  fi
  printf '%7d  all checks passed\n' "$SECONDS"
  if [ -z "$(git status --porcelain)" ] && [ "$(git rev-parse HEAD)" = "$tested" ]; then
    python3 tools/reached.py --passed >.ci/passed
    echo 'Commit .ci/passed: the next run then checks only what has changed from here.'
  fi
}
trap 'end $?' EXIT
