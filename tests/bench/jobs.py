# SPDX-License-Identifier: MIT
"""Records steps on request: one job for each line of standard input, one answer for each on standard output.

An answer has an "outcome": "captured", or the failure with its "cause".
"""

import contextlib
import importlib.util
import json
import os
import re
import sys
import warnings

import torch

warnings.simplefilter("ignore")
torch.set_num_threads(1)


def load(path):
    """Loads the capture module."""
    spec = importlib.util.spec_from_file_location("adjoint_capture", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules["adjoint_capture"] = module
    spec.loader.exec_module(module)
    return module


def line(error):
    """Returns the first informative line of an error, without its numbers."""
    said = [text for text in str(error).splitlines() if text.strip() and not text.endswith("raised:")]
    return re.sub(r"0x[0-9a-f]+|\d+", "N", f"{type(error).__name__}: {said[0] if said else ''}")[:160]


def raised(run):
    try:
        run()
    except Exception as error:
        return line(error)
    return None


NODES = 64 << 20  # bytes of recorded node values


def record(module, path, call, step, dynamic=False):
    """Records `step`, a function that takes a callable, with `call` compiled; sizes are symbols when `dynamic`."""

    def compiled(around=contextlib.nullcontext):
        torch._dynamo.reset()
        torch._dynamo.utils.counters.clear()
        with around():
            step(torch.compile(call, backend="aot_eager", dynamic=dynamic))

    def recorded():
        compiled(lambda: module.record(path, limits=module.Limits(nodes=NODES)))

    cause = raised(recorded)
    if cause is None:
        breaks = [line.splitlines()[0][:160] for line in sorted(torch._dynamo.utils.counters["graph_break"])]
        return {"outcome": "captured" if os.path.exists(path) else "no file", "cause": None, "breaks": breaks}
    with contextlib.suppress(OSError):
        os.remove(path)  # an incomplete file of a failed step
    if raised(lambda: step(call)):
        return {"outcome": "raises in eager", "cause": cause}
    return {"outcome": "raises when compiled" if raised(compiled) else "raises when recorded", "cause": cause}


def serve(hello, answer):
    """Reports that it is ready, then answers each job."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # text printed by programs is not an answer
    print(json.dumps(hello), file=answers, flush=True)
    for job in sys.stdin:
        print(json.dumps(answer(json.loads(job))), file=answers, flush=True)
