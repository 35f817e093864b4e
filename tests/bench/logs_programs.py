# SPDX-License-Identifier: MIT
"""Programs whose logs bench-logs.py reads: logs_programs.py NAME [BACKEND].  Each is a small typical program."""
import contextlib
import functools
import os
import sys
import tempfile

import torch
from torch import nn


BACKEND = sys.argv[2] if len(sys.argv) > 2 else "inductor"


def compiled(function, **options):
    return torch.compile(function, backend=BACKEND, **options)


class Net(nn.Module):
    def __init__(self, width=16, drop=0.0):
        super().__init__()
        self.norm, self.up, self.down = nn.LayerNorm(width), nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
        self.drop = nn.Dropout(drop)

    def forward(self, x):
        return x + self.drop(self.down(nn.functional.gelu(self.up(self.norm(x)))))


class Conv(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv, self.bn, self.head = nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), nn.Linear(8, 4)

    def forward(self, x):
        return self.head(torch.relu(self.bn(self.conv(x))).mean((2, 3)))


def step(model, x, optimizer=None):
    loss = model(x).square().mean()
    loss.backward()
    if optimizer is not None:
        optimizer.step()
        optimizer.zero_grad()


def train():
    model = nn.Sequential(Net(drop=0.1), Net())
    optimizer = torch.optim.AdamW(model.parameters())
    fast, update = compiled(model), compiled(optimizer.step)
    for _ in range(2):
        step(fast, torch.randn(4, 16))
        update()
    step(compiled(Conv()), torch.randn(2, 3, 8, 8))


def compiled_autograd():
    torch._dynamo.config.compiled_autograd = True
    model = Net()
    model.up.weight.register_hook(lambda g: g * 2)

    @compiled
    def run(x):
        step(model, x)

    for n in (3, 4, 5):
        run(torch.randn(n, 16))
    enable = getattr(torch._dynamo.compiled_autograd, "_enable", None) or torch._dynamo.compiled_autograd.enable
    with enable(torch.compile(backend="eager")):
        step(Conv(), torch.randn(2, 3, 8, 8))


def dynamic():
    def f(x, y):
        if x.shape[0] > 5:
            return (x @ y).sum(0), x.reshape(-1, 2)
        return (x @ y).cumsum(0), x.view(x.shape[0] * 2, -1)

    g = compiled(f, dynamic=True)
    for n in (3, 4, 8):
        g(torch.randn(n, 16, requires_grad=True), torch.randn(16, 4, requires_grad=True))[0].sum().backward()
    torch._dynamo.config.capture_dynamic_output_shape_ops = torch._dynamo.config.capture_scalar_outputs = True
    compiled(lambda x: x[x > 0] * 2)(torch.randn(9))
    with contextlib.suppress(Exception):  # of 2.4
        compiled(lambda x: x.new_zeros(int(x.abs().sum().item()) + 1))(torch.randn(9))


def breaks():
    @compiled
    def f(x):
        x = x.sin()
        print("between")
        if x.sum() > 0:
            x = x * 2
        torch._dynamo.graph_break()
        return x.cos()

    f(torch.randn(4, requires_grad=True)).sum().backward()
    f(torch.randn(7, requires_grad=True)).sum().backward()


def checkpoint():
    from torch.utils.checkpoint import checkpoint as apply

    model = nn.Sequential(Net(), Net())
    compiled(lambda x: apply(model, x, use_reentrant=False))(torch.randn(4, 16, requires_grad=True)).sum().backward()
    with contextlib.suppress(ImportError):  # before 2.5
        checkpoint_by_policy(model, apply)


def checkpoint_by_policy(model, apply):
    from torch.utils.checkpoint import CheckpointPolicy, create_selective_checkpoint_contexts

    def policy(context, op, *args, **kwargs):
        return CheckpointPolicy.MUST_SAVE if op == torch.ops.aten.addmm.default else CheckpointPolicy.PREFER_RECOMPUTE

    contexts = functools.partial(create_selective_checkpoint_contexts, policy)
    selective = compiled(lambda x: apply(model, x, use_reentrant=False, context_fn=contexts))
    selective(torch.randn(4, 16, requires_grad=True)).sum().backward()


def higher():
    from torch._higher_order_ops.cond import cond
    from torch._higher_order_ops.while_loop import while_loop

    def f(x):
        x = cond(x.sum() > 0, lambda x: x.sin(), lambda x: x.cos(), (x,))
        return while_loop(lambda i, x: i < 3, lambda i, x: (i + 1, x * 2), (torch.tensor(0), x))[1]

    class Double(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx, g):
            return 2 * g * ctx.saved_tensors[0]

    compiled(f)(torch.randn(4))
    compiled(lambda x: Double.apply(x).sum())(torch.randn(4, requires_grad=True)).backward()
    compiled(lambda x: torch.func.vmap(torch.func.grad(lambda y: y.sin().sum()))(x))(torch.randn(4, 3))
    with contextlib.suppress(Exception):
        from torch.nn.attention.flex_attention import flex_attention
        q = torch.randn(1, 1, 128, 16)
        torch.compile(flex_attention, backend="aot_eager")(q, q, q)


def autocast():
    model = compiled(Net())
    with torch.autocast("cpu", torch.bfloat16):
        step(model, torch.randn(4, 16))
    with torch.no_grad():
        model(torch.randn(4, 16))
    with torch.inference_mode():
        model(torch.randn(4, 16))


def export():
    program = torch.export.export(Net(), (torch.randn(4, 16),),
                                  dynamic_shapes={"x": {0: torch.export.Dim("batch", min=2, max=64)}})
    program.run_decompositions()
    torch.export.export(Conv(), (torch.randn(2, 3, 8, 8),), strict=False)


def aotinductor():
    with tempfile.TemporaryDirectory() as folder:
        if not hasattr(torch._inductor, "aoti_compile_and_package"):  # before 2.5
            torch._export.aot_compile(Net(), (torch.randn(4, 16),),
                                      options={"aot_inductor.output_path": os.path.join(folder, "net.so")})
            return
        program = torch.export.export(Net(), (torch.randn(4, 16),))
        torch._inductor.aoti_compile_and_package(program, package_path=os.path.join(folder, "net.pt2"))


def ranks(work):
    import torch.distributed as dist

    dist.init_process_group("gloo")
    work(dist.get_rank())
    dist.destroy_process_group()


def ddp():
    def work(_rank):
        torch._dynamo.config.optimize_ddp = True
        model = torch.nn.parallel.DistributedDataParallel(nn.Sequential(Net(512), Net(512)), bucket_cap_mb=4)
        fast = compiled(model)
        for _ in range(2):
            step(fast, torch.randn(4, 512))

    ranks(work)


def ddp_autograd():
    """The reducer in Python, whose hooks compiled autograd captures."""
    def work(_rank):
        torch._dynamo.config.optimize_ddp = "python_reducer"
        torch._dynamo.config.compiled_autograd = True
        model = torch.nn.parallel.DistributedDataParallel(nn.Sequential(Net(), Net()))
        enable = getattr(torch._dynamo.compiled_autograd, "_enable", None) or torch._dynamo.compiled_autograd.enable
        with enable(torch.compile(backend="aot_eager")):
            for _ in range(2):
                step(compiled(model), torch.randn(4, 16))

    ranks(work)


class NoEvent:
    """Before 2.8 FSDP2 asks CPU streams for events, which they do not have."""

    def __getattr__(self, name):
        return lambda *arguments: None


def fsdp2():
    def work(_rank):
        for name in ("record_event", "wait_event", "synchronize"):
            if not hasattr(torch.cpu.Stream, name):
                setattr(torch.cpu.Stream, name, lambda self, event=None: NoEvent())
        try:
            from torch.distributed.fsdp import fully_shard
        except ImportError:
            from torch.distributed._composable.fsdp import fully_shard
        from torch.distributed.device_mesh import init_device_mesh

        model, mesh = nn.Sequential(Net(), Net()), init_device_mesh("cpu", (2,))
        for part in model:
            fully_shard(part, mesh=mesh)
        fully_shard(model, mesh=mesh)
        for part in model:
            part.compile(backend="aot_eager")
        step(model, torch.randn(4, 16))

    ranks(work)


def tensor_parallel():
    def work(_rank):
        from torch.distributed.device_mesh import init_device_mesh
        try:
            from torch.distributed.tensor import DTensor, Replicate, Shard
        except ImportError:
            from torch.distributed._tensor import DTensor, Replicate, Shard

        mesh = init_device_mesh("cpu", (2,))
        w = DTensor.from_local(torch.randn(8, 16, requires_grad=True), mesh, [Shard(0)], run_check=False)
        x = DTensor.from_local(torch.randn(4, 16), mesh, [Replicate()], run_check=False)
        torch.compile(lambda x, w: (x @ w.t()).redistribute(mesh, [Replicate()]).to_local().sum(),
                      backend="aot_eager")(x, w).backward()

    ranks(work)


if __name__ == "__main__":
    torch.manual_seed(0)
    globals()[sys.argv[1]]()
