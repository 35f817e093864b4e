#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes programs.txt: random programs with views, in-place writes, no-grad sections and hooks, and
PyTorch 2.6's gradients or the step that it refused.

A program is a line "program K", then its steps, then the result:

    r5 select.int r3 0 1       r5 = torch.ops.aten.select.int(r3, 0, 1)
    r6 unbind.int#1 r3 0       the second of the results
    - mul_.Scalar r5 2         nothing new; N before it: in no_grad
    hook r5 3                  its gradient is tripled
    = error 4                  step 4 (from 0; the number of steps: backward) was refused
    = grads [..] none          gradients of r0, r1 and r2

r0 and r1 are leaves of 3 x 4, r2 one of 4, r3 is 3 x 4 without gradient; element i of rk is
((5 i + 3 k) mod 11 - 5) / 4.  The loss is the sum of (k + 1) sin(rk) over all registers that
require a gradient.
"""

import os
import random
import sys

import torch

aten = torch.ops.aten
N_PROGRAMS = 600


def start():
    regs = []
    for k, size in enumerate([(3, 4), (3, 4), (4,), (3, 4)]):
        n = 12 if len(size) == 2 else 4
        values = [((5 * i + 3 * k) % 11 - 5) / 4 for i in range(n)]
        regs.append(torch.tensor(values, dtype=torch.float64).view(size).clone())
        if k < 3:
            regs[k].requires_grad_()
    return regs


def call(regs, step):
    words = step.split()
    no_grad = words[0] == "N"
    words = words[1:] if no_grad else words
    if words[0] == "hook":
        factor = float(words[2])
        regs[int(words[1][1:])].register_hook(lambda g: g * factor)
        return
    name, _, part = words[1].partition("#")
    base, _, overload = name.partition(".")
    op = getattr(getattr(aten, base), overload or "default")
    args = []
    for word in words[2:]:
        if word[0] == "r":
            args.append(regs[int(word[1:])])
        elif word[0] == "[":
            args.append([int(x) for x in word[1:-1].split(",") if x])
        elif "." in word:
            args.append(float(word))
        else:
            args.append(int(word))
    with torch.set_grad_enabled(not no_grad):
        result = op(*args)
    if part:
        result = result[int(part)]
    if words[0] != "-":
        assert words[0] == f"r{len(regs)}", step
        regs.append(result)


def backward(regs):
    loss = None
    for k, r in enumerate(regs):
        if r.requires_grad:
            term = torch.sin(r).sum() * (k + 1)
            loss = term if loss is None else loss + term
    loss.backward()


def run(steps):
    regs = start()
    for i, step in enumerate(steps):
        try:
            call(regs, step)
        except (RuntimeError, IndexError):
            return regs, i
    return regs, None


def finish(steps):
    regs, error = run(steps)
    if error is not None:
        return f"= error {error}"
    try:
        backward(regs)
    except RuntimeError:
        return f"= error {len(steps)}"
    out = []
    for r in regs[:3]:
        out.append("none" if r.grad is None else
                   "[" + ",".join("%.12g" % x for x in r.grad.flatten().tolist()) + "]")
    return "= grads " + " ".join(out)


def random_step(rng, regs):
    k = rng.randrange(len(regs)) if rng.random() < 0.4 else rng.randrange(max(3, len(regs) - 3), len(regs))
    r = regs[k]
    rank = r.dim()
    new = f"r{len(regs)}"
    other = rng.randrange(len(regs))
    scale = rng.choice(["2", "0.5", "-1.5", "3"])
    dim = rng.randrange(max(rank, 1))
    kind = rng.random()
    if kind < 0.22:
        return rng.choice([
            f"{new} sin r{k}", f"{new} mul.Scalar r{k} {scale}", f"{new} mul.Tensor r{k} r{other}",
            f"{new} add.Tensor r{k} r{other}", f"{new} clone r{k}", f"{new} detach r{k}",
            f"{new} exp r{k}", f"{new} clone r{k}", f"{new} mul.Scalar r{k} {scale}"])
    if kind < 0.56:
        views = [f"{new} alias r{k}", f"{new} unsqueeze r{k} {dim}", f"{new} squeeze r{k}"]
        if rank:
            n = r.shape[dim]
            if n:
                views += [f"{new} select.int r{k} {dim} {rng.randrange(n)}"] * 3
                views += [f"{new} slice.Tensor r{k} {dim} {rng.randrange(n)} {rng.randint(1, n)} {rng.randint(1, 2)}"] * 2
                part = rng.randrange(n)
                views += [f"{new} unbind.int#{part} r{k} {dim}",
                          f"{new} split.Tensor#0 r{k} {rng.randint(1, n)} {dim}"]
            views += [f"{new} transpose.int r{k} {dim} {rng.randrange(rank)}",
                      f"{new} view r{k} [{r.numel()}]", f"{new} view r{k} [-1,1]",
                      f"{new} expand r{k} [2,{','.join(str(s) for s in r.shape)}]",
                      f"{new} permute r{k} [{','.join(str(d) for d in rng.sample(range(rank), rank))}]"]
        if rank >= 2:
            views += [f"{new} diagonal r{k}", f"{new} t r{k}"]
        return rng.choice(views)
    if kind < 0.92:
        writes = [f"- mul_.Scalar r{k} {scale}", f"- mul_.Tensor r{k} r{other}",
                  f"- add_.Tensor r{k} r{other}", f"- sin_ r{k}", f"- copy_ r{k} r{other}",
                  f"- fill_.Scalar r{k} 0", f"- fill_.Scalar r{k} {scale}", f"- add_.Tensor r{k} r{other}",
                  f"- exp_ r{k}"]
        if rng.random() < 0.15:
            writes = [f"- unsqueeze_ r{k} {dim}", f"- detach_ r{k}"]
            writes += [f"- t_ r{k}"] if rank == 2 else []
        step = rng.choice(writes)
        return "N " + step if rng.random() < 0.12 else step
    if kind < 0.95:
        return f"N {new} " + rng.choice([f"alias r{k}", f"mul.Scalar r{k} 2"])
    return f"hook r{k} {scale}"


def make(rng):
    steps = ["r4 mul.Tensor r0 r1", "r5 add.Tensor r1 r2"][:rng.choice([1, 2, 2])]
    n = rng.randint(5, 15)
    while len(steps) < n:
        regs, error = run(steps)
        if error is not None:
            break
        step = random_step(rng, regs)
        _, error = run(steps + [step])
        if error is None or rng.random() < 0.1:
            steps.append(step)
    return steps


def make_in_child(seed):
    """Runs in a child process because PyTorch crashes on some programs, which are left out."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        steps = make(random.Random(seed))
        text = "\n".join(steps + [finish(steps)])
        with os.fdopen(write, "w") as out:
            out.write(text)
        os._exit(0)
    os.close(write)
    with os.fdopen(read) as result:
        text = result.read()
    return text if os.waitpid(child, 0)[1] == 0 else None


def main():
    torch.set_num_threads(1)
    seed = 0
    with open(sys.argv[1] if len(sys.argv) > 1 else "programs.txt", "w") as out:
        for k in range(N_PROGRAMS):
            text = None
            while text is None:
                seed += 1
                text = make_in_child(seed)
            print(f"program {k}", text, sep="\n", file=out)


if __name__ == "__main__":
    main()
