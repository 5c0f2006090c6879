# What the action runs: inputs come as environment variables, so that nothing in them is read as a command.
set -u

# Each line of a text, after an option.
each() {
    local option=$1 line
    while IFS= read -r line; do
        if [ -n "$line" ]; then
            given+=(${option:+"$option"} "$line")
        fi
    done <<<"$2"
}

given=()
each --url "${URL:-}"
each --command "${COMMAND:-}"
servers=("${given[@]+"${given[@]}"}")
if [ ${#servers[@]} -eq 0 ]; then
    echo "give the action a url or a command" >&2
    exit 2
fi
given=()
each --header "${HEADER:-}"
# Headers are HTTP's: a server on stdio has none.
headers=("${given[@]+"${given[@]}"}")
given=()
each "" "${ARGUMENTS:-}"
more=("${given[@]+"${given[@]}"}")
known=()
if [ -n "${BASELINE:-}" ]; then
    known=(--baseline "$BASELINE")
fi

"$PROGRAM" check "${servers[@]}" "${headers[@]+"${headers[@]}"}" "${more[@]+"${more[@]}"}" \
    "${known[@]+"${known[@]}"}" --format "$FORMAT" --output "$OUTPUT"
worst=$?

given=()
each "" "${TRANSCRIPTS:-}"
if [ ${#given[@]} -gt 0 ]; then
    report="$(dirname "$OUTPUT")/replay-$(basename "$OUTPUT")"
    if [ "${servers[0]}" = --command ]; then
        headers=()
    fi
    "$PROGRAM" replay "${servers[@]:0:2}" "${headers[@]+"${headers[@]}"}" "${known[@]+"${known[@]}"}" \
        --era "${ERA:-both}" --format "$FORMAT" --output "$report" "${given[@]}"
    code=$?
    if [ "$code" -gt "$worst" ]; then
        worst=$code
    fi
fi
exit "$worst"
