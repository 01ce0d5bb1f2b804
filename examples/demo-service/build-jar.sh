#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# usage: build-jar.sh JAVAC JAR OUTPUT CLASSES SOURCE...
# Compiles for Java 11 and packs a jar that `java -jar` runs.
set -eu
javac=$1 jar=$2 output=$3 classes=$4
shift 4
rm -rf "$classes"
mkdir -p "$classes"
"$javac" -Xlint:all -Werror --release 11 -d "$classes" "$@"
"$jar" --create --file "$output" --main-class dev.hotstack.demo.DemoService -C "$classes" .
