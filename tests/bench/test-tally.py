# SPDX-License-Identifier: MIT
"""Tests of tally.py: which answers count as errors, and the causes they are counted by."""

import unittest

from tally import Tally
from verdicts import cause_of


def entry(key, outcome="captured", **more):
    return {"key": key, "outcome": outcome, "seconds": 1, **more}


def judged(outcome, **more):
    return {"open": {"outcome": "opened"}, "compare": {"0-0-joint": {"outcome": outcome, **more}}}


def unopened(cause):
    return {"open": {"outcome": "refused", "cause": cause}}


class Wrong(unittest.TestCase):
    def wrong(self, *entries, known=()):
        tally = Tally(known)
        for one in entries:
            tally.add(one)
        return {what: list(places) for what, places in tally.wrong.items()}

    def test_difference_unless_it_is_named(self):
        one = entry("sort-1", judged=judged("differs", cause="differs", where="sort"))
        self.assertEqual(self.wrong(one), {"differs": ["sort-1#0-0-joint at sort"]})
        self.assertEqual(self.wrong(one, known=[["sort-*", "*", "sort", "-", "why"]]), {})
        self.assertEqual(len(self.wrong(one, known=[["sort-*", "*", "topk", "-", "why"]])), 1)

    def test_difference_that_is_larger_than_the_named_one(self):
        known = [["large-*", "*", "convolution_backward", "3.1e-5", "why"]]
        for error, wrong in ((2.1e-6, 0), (3.1e-5, 0), (3.2e-5, 1), (None, 1)):
            one = entry("large-f32", judged=judged("differs", where="convolution_backward", error=error))
            self.assertEqual(len(self.wrong(one, known=known)), wrong, error)

    def test_crashes_of_either_side(self):
        recording = entry("sgn-0", "crashed", cause="signal")
        comparing = entry("add-0", judged=judged("crashed", cause="signal"))
        self.assertEqual(self.wrong(recording, comparing), {"crashed: signal": ["sgn-0", "add-0#0-0-joint"]})

    def test_file_that_does_not_open_unless_nothing_was_compiled(self):
        empty = entry("item-0", judged=unopened("the file holds no graph: nothing was compiled: a graph break"))
        self.assertEqual(self.wrong(empty), {})
        self.assertEqual(len(self.wrong(entry("mul-0", judged=unopened("tensors/… is missing")))), 1)

    def test_refusal_is_counted_and_not_wrong(self):
        self.assertEqual(self.wrong(entry("fft-0", judged=judged("refused", cause="no operator torch.fft"))), {})


class Causes(unittest.TestCase):
    def test_same_cause_whatever_the_file(self):
        one = cause_of("/tmp/a.adjoint#joint: cannot run 'torch.fmin' (call_function): Adjoint has no such operator; "
                       "the nearest is 'torch.amin' (node 'fmin', x.py:3)")  # fmt: skip
        self.assertEqual(one, "no operator torch.fmin")
        self.assertEqual(cause_of("b.adjoint: aten::sum: cannot compute; self: c64[3][1]cpu (node 'a', x.py:9)"),
                         "aten::sum: cannot compute")  # fmt: skip
        self.assertEqual(cause_of("c: no graph: skip function f in file /usr/lib/a.py"), "c: no graph: skip function f in file a.py")
        self.assertEqual(cause_of("'x' has 3 elements"), cause_of("'y' has 17 elements"))


if __name__ == "__main__":
    unittest.main()
