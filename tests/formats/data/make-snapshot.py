# SPDX-License-Identifier: MIT
"""Writes snapshot.pickle, in the form of torch.cuda.memory._dump_snapshot(), without a GPU.

    python make-snapshot.py snapshot.pickle
"""

import pickle
import sys


def event(action, addr, size, time_us, line):
    frames = [{"filename": "/usr/lib/python3/torch/nn/linear.py", "line": 1, "name": "forward"},
              {"filename": "/home/user/train.py", "line": line, "name": "step"}]
    return {"action": action, "addr": addr, "size": size, "stream": 0, "time_us": time_us, "frames": frames}


BLOCKS = [{"address": 4096, "size": 1024, "requested_size": 1000, "state": "active_allocated", "frames": []},
          {"address": 5120, "size": 3072, "requested_size": 0, "state": "inactive", "frames": []}]
SNAPSHOT = {
    "segments": [{"device": 0, "address": 4096, "total_size": 4096, "allocated_size": 1024, "active_size": 1024,
                  "stream": 0, "segment_type": "small", "blocks": BLOCKS}],
    "device_traces": [[event("segment_alloc", 4096, 4096, 1000, 3), event("alloc", 4096, 1024, 1500, 4),
                       event("alloc", 5120, 2048, 2500, 5), event("free_requested", 5120, 2048, 3000, 6),
                       event("free_completed", 5120, 2048, 3250, 6)]],
    "allocator_settings": {"expandable_segments": False},
}

if __name__ == "__main__":
    with open(sys.argv[1], "wb") as file:
        pickle.dump(SNAPSHOT, file, 2)
