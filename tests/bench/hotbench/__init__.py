# SPDX-License-Identifier: Apache-2.0
"""Hotstack's benchmarks: ours and its peers in one run, on the same data. See ../README.md."""
