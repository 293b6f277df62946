#!/usr/bin/env bash
# Trains the reader on a machine with a card and leaves what it made in $OUT, in parts of 15 MiB: README.md, "On a card".
# PACK: the folder of pack.py; MINUTES: of training alone, to which about one comes. Arguments go to train_device.py.
# The one rule: what was trained comes back even where the export fails.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
made=$(mktemp -d)
export PYTHONPATH=$here PYTHONUNBUFFERED=1 OMP_NUM_THREADS=${OMP_NUM_THREADS:-8}

python3 "$here/train_device.py" --pack "${PACK:-.reader/pack}" --out "$made" --minutes "${MINUTES:-7}" --half "$@" 2>&1 | tee "$made/log"
failed=$?
last=$(find "$made" -name '*.pt' | sort | tail -n 1)
[ -n "$last" ] || exit 1
python3 "$here/export.py" "$last" "$made/reader-int8.onnx" --pack "${PACK:-.reader/pack}" 2>&1 | tee -a "$made/log" || failed=1
find "$made" -name '*.pt' ! -path "$last" -delete
tar -C "$made" -c . | gzip -1 | split -b 15M - "${OUT:?where results go}/part."
exit $failed
