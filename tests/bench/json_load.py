# SPDX-License-Identifier: Apache-2.0
"""CPU seconds of json.load alone of a file. Usage: json_load.py FILE"""

import json
import sys
import time

with open(sys.argv[1], encoding="utf-8") as file:
    begin = time.process_time()
    events = json.load(file)["recording"]["events"]
    print(len(events), f"{time.process_time() - begin:.6f}")
