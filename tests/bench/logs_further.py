# SPDX-License-Identifier: MIT
"""Programs whose logs bench-logs.py reads: logs_further.py NAME [BACKEND].  What is rarer in logs, written after the readers."""
import os
import sys
import tempfile

import torch
from torch import nn
from torch.nn import functional as F

BACKEND = sys.argv[2] if len(sys.argv) > 2 else "inductor"


def compiled(function=None, **options):
    return torch.compile(function, backend=BACKEND, **options)


def attempt(*steps):
    """Each of them; older and newer releases refuse some."""
    for step in steps:
        try:
            step()
        except Exception as error:
            print("left out:", type(error).__name__, str(error).splitlines()[:1])


class Experts(nn.Module):
    def __init__(self, width=8, n=4):
        super().__init__()
        self.gate, self.n = nn.Linear(width, n, bias=False), n
        self.first, self.second = nn.Parameter(torch.randn(n, width, 16)), nn.Parameter(torch.randn(n, 16, width))

    def forward(self, x):
        scores, chosen = self.gate(x).softmax(-1).topk(2)
        load = F.one_hot(chosen, self.n).sum((0, 1)).float()
        h = torch.bmm(F.silu(torch.bmm(x.expand(self.n, -1, -1), self.first)), self.second)
        picked = h.transpose(0, 1).gather(1, chosen[..., None].expand(-1, -1, x.shape[-1]))
        return (picked * scores[..., None]).sum(1), load.var() / (load.mean() ** 2 + 1e-6)


def experts():
    """Routing: top k, gathers, sorted tokens with index_add, a balance loss, sizes that are marked."""
    model = Experts()

    @compiled(dynamic=True)
    def routed(x, weight):
        order = x.sum(-1).argsort(stable=True)
        out = torch.zeros_like(x).index_add_(0, order, F.linear(x[order], weight))
        return out.scatter_add(0, order[:, None].expand_as(x), x).cumsum(0)

    fast = compiled(model)
    for n in (5, 9):
        x = torch.randn(n, 8)
        torch._dynamo.mark_dynamic(x, 0)
        y, balance = fast(x)
        (y.square().mean() + 0.01 * balance).backward()
        routed(torch.randn(n, 8, requires_grad=True), torch.randn(8, 8, requires_grad=True)).sum().backward()


class Cached(nn.Module):
    def __init__(self, width=8, length=12):
        super().__init__()
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.register_buffer("keys", torch.zeros(1, length, width), persistent=False)
        self.register_buffer("values", torch.zeros(1, length, width), persistent=False)

    def forward(self, x, at):
        q, k, v = self.qkv(x).chunk(3, -1)
        self.keys.index_copy_(1, at, k)
        self.values[:, at] = v
        mask = torch.arange(self.keys.shape[1])[None] <= at[:, None]
        return self.out(F.scaled_dot_product_attention(q, self.keys, self.values, attn_mask=mask))


def generation():
    """A cache that is written in place, by inference, under modes that have no gradients."""
    model, at = Cached().eval(), torch.arange(3)
    fast = compiled(model)
    with torch.no_grad():
        fast(torch.randn(1, 3, 8), at)
        for i in range(3, 5):
            fast(torch.randn(1, 1, 8), torch.tensor([i]))

    @compiled
    def sample(logits, temperature: float, k: int):
        kept = logits.topk(k).values[..., -1:]
        p = torch.where(logits < kept, float("-inf"), logits / temperature).softmax(-1)
        return torch.multinomial(p, 1), torch.argmax(p / torch.empty_like(p).exponential_(1), -1, keepdim=True)

    with torch.inference_mode():
        sample(torch.randn(2, 16), 0.7, 4)
        sample(torch.randn(2, 16), 0.9, 5)


def recompiles():
    """Why code is compiled again: types, numbers, lengths of lists, globals, modes, attributes."""
    class Scaled(nn.Module):
        def __init__(self):
            super().__init__()
            self.scale, self.words = 2, ["a"]

        def forward(self, xs, flag=None, **more):
            total = sum(x * self.scale for x in xs) + len(self.words)
            return total if flag is None else total.to(torch.float64 if flag == "wide" else torch.float32) + sum(more.values())

    model = Scaled()
    fast = compiled(model)
    x = torch.randn(3, requires_grad=True)
    for call in (lambda: fast([x]), lambda: fast([x, x]), lambda: fast((x.double(),)), lambda: fast([x], "wide"),
                 lambda: fast([x], "thin", a=1, b=2.5), lambda: (setattr(model, "scale", 3), fast([x]))[1],
                 lambda: (model.words.append("é\n'\""), fast([x]))[1], lambda: fast([x.reshape(3, 1)])):
        attempt(lambda: call().sum().backward())
    with torch.no_grad():
        fast([x])


def resumed():
    """Breaks below calls, in loops, in with and try, by what is not traced."""
    @torch._dynamo.disable
    def outside(x):
        return x.numpy().sum().item()

    def inner(x, n):
        y = x * n
        with torch.no_grad():
            torch._dynamo.graph_break()
        return y.relu()

    @compiled
    def f(x, table):
        for n in range(2):
            x = inner(x, n + 1)
        try:
            table["sum"] = outside(x.detach())
        except ValueError:
            return x
        if float(x.sum()) > 1e9:
            return x * 2
        return x.sin() + table["sum"]

    f(torch.randn(4, requires_grad=True), {}).sum().backward()
    attempt(lambda: compiled(lambda x: [print(i) or x + i for i in range(2)][-1])(torch.randn(3)),
            lambda: compiled(lambda x: x + (_ for _ in ()).throw(KeyError("no")))(torch.randn(3)))


def loops():
    """Scans, loops with gradients, branches within branches, closures, pytrees."""
    from torch._higher_order_ops.cond import cond
    from torch._higher_order_ops.while_loop import while_loop

    def scans():
        from torch._higher_order_ops.scan import scan
        w = torch.randn(3, 3, requires_grad=True)
        compiled(lambda h, xs: scan(lambda h, x: ((h @ w + x).tanh(), h.sum(-1)), h, xs, dim=0))(
            torch.randn(2, 3), torch.randn(4, 2, 3))

    def associative():
        from torch._higher_order_ops.associative_scan import associative_scan
        compiled(lambda a, b: associative_scan(lambda l, r: (l[0] * r[0], l[1] * r[0] + r[1]), (a, b), 0,
                                               combine_mode="generic"))(torch.rand(8, 3), torch.randn(8, 3))

    def nested(x, y):
        def yes(x, y):
            return cond(y.sum() > 0, lambda x, y: x.sin() * y, lambda x, y: x @ y.t() @ y, (x, y))

        return cond(x.sum() > 0, yes, lambda x, y: x - y, (x, y))

    def turns(x, n):
        return while_loop(lambda i, s: i < n, lambda i, s: (i + 1, {"a": s["a"].cos(), "b": s["a"] + s["b"]}),
                          (torch.tensor(0), {"a": x, "b": x * 2}))

    attempt(scans, associative,
            lambda: compiled(nested)(torch.randn(3, 3, requires_grad=True), torch.randn(3, 3, requires_grad=True)).sum().backward(),
            lambda: compiled(turns)(torch.randn(3), torch.tensor(4)),
            lambda: compiled(nested, dynamic=True)(torch.randn(4, 4), torch.randn(4, 4)))


def rounded():
    """Integers in the place of floats: fake quantisation, int8 products, packed bits, float8."""
    scale, zero = torch.tensor(0.1), torch.tensor(3, dtype=torch.int32)

    def fake(x, w):
        x = torch.fake_quantize_per_tensor_affine(x, scale, zero, -128, 127)
        w = torch.fake_quantize_per_channel_affine(w, torch.full((4,), 0.05), torch.zeros(4, dtype=torch.int32), 0, -8, 7)
        return F.linear(x, w).sum()

    def packed(x):
        low, high = x & 15, x >> 4
        return ((low | (high << 4)) ^ 1).view(torch.int8), torch.bitwise_not(x)

    def decomposed(x):
        from torch.ao.quantization.fx import _decomposed  # noqa: F401
        q = torch.ops.quantized_decomposed.quantize_per_tensor(x, 0.1, 3, -128, 127, torch.int8)
        return torch.ops.quantized_decomposed.dequantize_per_tensor(q, 0.1, 3, -128, 127, torch.int8)

    attempt(lambda: compiled(fake)(torch.randn(3, 5, requires_grad=True), torch.randn(4, 5, requires_grad=True)).backward(),
            lambda: compiled(packed)(torch.randint(0, 255, (8,), dtype=torch.uint8)),
            lambda: compiled(decomposed)(torch.randn(4)),
            lambda: compiled(lambda a, b: torch._int_mm(a, b).float() * 0.01)(
                torch.randint(-8, 8, (32, 16), dtype=torch.int8), torch.randint(-8, 8, (16, 8), dtype=torch.int8)),
            lambda: compiled(lambda x: x.to(torch.float8_e4m3fn).to(torch.bfloat16))(torch.randn(4)),
            lambda: compiled(torch.ao.nn.quantized.dynamic.Linear(4, 4))(torch.randn(2, 4)))


def signals():
    """Complex numbers, spectra, linear algebra, sorting, polygons: what is not a network."""
    def spectrum(x):
        s = torch.stft(x, 16, 4, window=torch.hann_window(16), return_complex=True)
        return (s.abs().square().clamp_min(1e-9).log().sum() + torch.istft(s, 16, 4, window=torch.hann_window(16)).square().sum())

    def solved(a, b):
        m = a @ a.mT + torch.eye(4)
        return torch.linalg.solve(m, b).sum() + torch.linalg.cholesky(m).logdet() + torch.linalg.eigvalsh(m).max()

    def einstein(x, y):
        return torch.einsum("bij,bjk->bik", x, y).logsumexp((1, 2)).sum() + torch.cdist(x, y).quantile(0.5)

    def special(x):
        return (torch.special.erfcx(x) + torch.lgamma(x.abs() + 1) + torch.polygamma(1, x.abs() + 1)).sum()

    def searched(x):
        values, where = torch.unique(x, return_inverse=True)
        return torch.searchsorted(values, x) + torch.bucketize(x, values), where

    attempt(lambda: compiled(spectrum)(torch.randn(2, 64, requires_grad=True)).backward(),
            lambda: compiled(solved)(torch.randn(4, 4, requires_grad=True), torch.randn(4, 2)).backward(),
            lambda: compiled(einstein)(torch.randn(2, 3, 4, requires_grad=True), torch.randn(2, 4, 4)[:, :4]).backward(),
            lambda: compiled(special)(torch.randn(5, requires_grad=True)).backward(),
            lambda: compiled(searched)(torch.randint(0, 9, (12,)).float()),
            lambda: compiled(lambda z: torch.view_as_real(z * z.conj()).sum())(
                torch.randn(3, dtype=torch.complex64, requires_grad=True)).backward())


def rivals():
    """Two networks and their optimisers: frozen parts, clipped norms, scaled losses, penalties."""
    make = nn.Sequential(nn.ConvTranspose2d(4, 3, 4), nn.Tanh())
    judge = nn.Sequential(nn.utils.parametrizations.spectral_norm(nn.Conv2d(3, 4, 3)), nn.LeakyReLU(0.2), nn.Flatten(), nn.LazyLinear(1))
    judge(make(torch.randn(1, 4, 1, 1)))
    first = torch.optim.RMSprop(make.parameters(), lr=torch.tensor(0.01), momentum=0.5)
    second = torch.optim.NAdam(judge.parameters(), weight_decay=0.1, decoupled_weight_decay=True)

    @compiled
    def judged(real, noise):
        fake = make(noise).detach()
        return F.softplus(-judge(real)).mean() + F.softplus(judge(fake)).mean()

    @compiled
    def made(noise):
        return F.binary_cross_entropy_with_logits(judge(make(noise)), torch.ones(2, 1))

    @compiled
    def clip_and_step(optimizer, parameters):
        torch.nn.utils.clip_grad_norm_(parameters, 1.0, error_if_nonfinite=False)
        optimizer.step()

    judged(torch.randn(2, 3, 4, 4), torch.randn(2, 4, 1, 1)).backward()
    clip_and_step(second, list(judge.parameters()))
    made(torch.randn(2, 4, 1, 1)).backward()
    clip_and_step(first, list(make.parameters()))
    for kind in (torch.optim.RAdam, torch.optim.Adamax, torch.optim.ASGD, torch.optim.Rprop, getattr(torch.optim, "Muon", None)):
        w = nn.Parameter(torch.randn(4, 4))
        w.grad = torch.randn(4, 4)
        attempt(lambda: compiled(kind([w]).step)())


def operators():
    """Operators of others: lists, symbols, strings, None, writes, effects, scripts of Python."""
    library = torch.library.Library("further", "DEF")
    library.define("mix(Tensor[] xs, Tensor? w, SymInt n, *, str mode='sum', ScalarType? dtype=None) -> (Tensor, Tensor[])")
    library.define("shift(Tensor(a!) x, float[] by) -> ()")

    def mix(xs, w, n, mode="sum", dtype=None):
        total = sum(xs) * n
        return (total if w is None else total * w).to(dtype or total.dtype), [x.clone() for x in xs]

    def shift(x, by):
        x.add_(sum(by))

    for key in ("CompositeExplicitAutograd", "Meta"):
        library.impl("mix", mix, key)
        library.impl("shift", shift, key)

    def f(x, y):
        total, parts = torch.ops.further.mix([x, y], None, x.shape[0], mode="it's \"odd\"\n", dtype=torch.float64)
        buffer = x.clone()
        torch.ops.further.shift(buffer, [0.5, float("inf"), -1e-30])
        torch.ops.aten._assert_async.msg(x.sum() < 1e9, "too large: \"x\"")
        torch._check(x.shape[0] > 1)
        return total + parts[1], buffer

    attempt(lambda: compiled(f, dynamic=True)(torch.randn(3), torch.randn(3)),
            lambda: compiled(f)(torch.randn(4), torch.randn(4)))


class Branches(nn.Module):
    def __init__(self):
        super().__init__()
        self.table, self.head = nn.EmbeddingBag(10, 6, mode="mean"), nn.Linear(6, 2)
        self.register_buffer("seen", torch.zeros((), dtype=torch.int64))

    def forward(self, words, starts, options):
        self.seen += 1
        h = self.table(words, starts) * options["scale"][0]
        return {"y": torch.cond(h.sum() > 0, lambda h: h.sin(), lambda h: h.cos(), (h,)), "z": self.head(h)}


def exported():
    """Programs of several kinds, with sizes, buffers that are written, branches and nested inputs."""
    words, starts = torch.randint(0, 10, (7,)), torch.tensor([0, 3, 5])
    inputs = (words, starts, {"scale": [torch.tensor(2.0)]})
    size = torch.export.Dim("words", min=4, max=4096)

    def dynamic():
        torch.export.export(Branches(), inputs, dynamic_shapes=({0: size}, None, {"scale": [None]}), strict=True).run_decompositions()

    def packaged():
        program = torch.export.export(nn.Sequential(nn.Linear(4, 4), nn.GELU()).eval(), (torch.randn(3, 4),),
                                      dynamic_shapes=({0: torch.export.Dim("batch", min=2, max=32)},))
        with tempfile.TemporaryDirectory() as folder:
            torch._inductor.aoti_compile_and_package(program, package_path=os.path.join(folder, "net.pt2"))

    attempt(lambda: torch.export.export(Branches(), inputs, strict=False).run_decompositions(), dynamic, packaged,
            lambda: torch.export.draft_export(Branches(), inputs),
            lambda: torch.export.export_for_training(Branches(), inputs))


def ranks(work):
    import torch.distributed as dist

    dist.init_process_group("gloo")
    work(dist.get_rank(), dist.get_world_size())
    dist.destroy_process_group()


def collectives():
    """What ranks say to each other inside of what is compiled, and code that differs between them."""
    def work(rank, size):
        import torch.distributed._functional_collectives as talk

        def gathered(x):
            whole = talk.all_gather_tensor(x.sin(), 0, list(range(size)))
            return talk.reduce_scatter_tensor(whole * 2, "sum", 0, list(range(size))) + talk.all_reduce(x, "avg", list(range(size)))

        attempt(lambda: compiled(gathered)(torch.randn(4, 3)))
        compiled(lambda x: x * rank + 1)(torch.randn(2 + rank, requires_grad=True)).sum().backward()

    ranks(work)


def ddp_unused():
    """DDP over a model whose parts are not all used, with a hook that compresses."""
    def work(_rank, _size):
        from torch.distributed.algorithms.ddp_comm_hooks.default_hooks import bf16_compress_hook

        model = torch.nn.parallel.DistributedDataParallel(Experts(), find_unused_parameters=True)
        model.register_comm_hook(None, bf16_compress_hook)
        fast = compiled(model)
        for n in (4, 6):
            y, balance = fast(torch.randn(n, 8))
            attempt(lambda: (y.sum() + balance).backward())

    ranks(work)


if __name__ == "__main__":
    torch.manual_seed(0)
    globals()[sys.argv[1]]()
