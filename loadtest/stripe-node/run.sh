#!/usr/bin/env bash
# Checks the payment API's own client for Node against the gateway that was built last:
#
#   loadtest/stripe-node/run.sh [GATEWAY.jar]
#
# Needs Node 18 or later, npm and a JDK. Installs into a temporary folder, listens on free ports of
# 127.0.0.1, and stops what it started.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
jar=${1:-$here/../../gateway/target/idempotency-gateway.jar}
jar=$(cd "$(dirname "$jar")" && pwd)/$(basename "$jar")
[ -f "$jar" ] || { echo "$jar is missing: build it with mvn package" >&2; exit 1; }

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cp "$here"/package.json "$here"/package-lock.json "$here"/check.mjs "$folder"
cd "$folder"
npm ci --ignore-scripts --no-audit --no-fund --loglevel=error
node check.mjs "$jar" "$here/../../config/stripe-like.yaml"
