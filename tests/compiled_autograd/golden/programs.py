# SPDX-License-Identifier: MIT
"""The programs whose captures are in this folder; the first line of each describes it."""

import torch
from torch._dynamo._trace_wrapped_higher_order_op import trace_wrapped
from torch.fx.experimental.proxy_tensor import make_fx
from torch.utils.checkpoint import checkpoint

ALL = {}


def program(function):
    ALL[function.__name__.replace("_", "-")] = function
    return function


# ---- captured graphs -------------------------------------------------------------------------------


@program
def c01(t):
    """(x*y).sum()"""
    x, y = t.leaf("x", 1.0, 2.0, 3.0), t.leaf("y", 4.0, 5.0, 6.0)
    (x * y).sum().backward()


def mlp(t):
    x = t.leaf("X", shape=(2, 4), requires_grad=False)
    w0, b0 = t.leaf("w0", shape=(4, 4)), t.leaf("b0", shape=(4,))
    w2, b2 = t.leaf("w2", shape=(4, 4)), t.leaf("b2", shape=(4,))
    hidden = torch.relu(torch.addmm(b0, x, w0.t()))
    return torch.relu(torch.addmm(b2, hidden, w2.t())).sum()


@program
def c02(t):
    """r0=relu(addmm(b0,X,w0.t())); relu(addmm(b2,r0,w2.t())).sum()"""
    mlp(t).backward()


@program
def c03(t):
    """sigmoid(x*y+sin(y)+cos(y)).sum(), x needs no gradient"""
    x, y = t.leaf("x", 1.0, 2.0, 3.0, requires_grad=False), t.leaf("y", 0.5, 0.25, -1.0)
    torch.sigmoid(x * y + y.sin() + y.cos()).sum().backward()


@program
def c04(t):
    """(x[2,3]+b[3]).sum(): a gradient is reduced"""
    x, b = t.leaf("x", shape=(2, 3)), t.leaf("b", 1.0, 2.0, 3.0)
    (x + b).sum().backward()


@program
def c05(t):
    """(x/y - y).sum()"""
    x, y = t.leaf("x", 1.0, 2.0, 3.0), t.leaf("y", 4.0, 5.0, 6.0)
    (x / y - y).sum().backward()


@program
def c06(t):
    """exp(x**2).mean()"""
    x = t.leaf("x", 0.5, 0.25, -1.0, 1.5)
    torch.exp(x**2).mean().backward()


@program
def c07(t):
    """(x*2).sum(): the scalar is an input"""
    x = t.leaf("x", 1.0, 2.0, 3.0)
    (x * 2).sum().backward()


@program
def c08(t):
    """(x*y).sum(), hooks h1 and h2 on the leaf x"""
    x, y = t.leaf("x", 1.0, 2.0, 3.0), t.leaf("y", 4.0, 5.0, 6.0)
    x.register_hook(t.hook("h1", lambda g: g + 1))
    x.register_hook(t.hook("h2", lambda g: g * 2))
    (x * y).sum().backward()


@program
def c09(t):
    """s=x.sin(); a hook on s; s.exp().sum()"""
    x = t.leaf("x", 0.5, 0.25, -1.0)
    s = x.sin()
    s.register_hook(t.hook("h", lambda g: g * 2))
    s.exp().sum().backward()


@program
def c10(t):
    """(x*y).sum(), hooks pre and post on the node of the product"""
    x, y = t.leaf("x", 1.0, 2.0, 3.0), t.leaf("y", 4.0, 5.0, 6.0)
    z = x * y
    z.grad_fn.register_prehook(t.hook("pre", lambda gs: (gs[0] * 2,)))
    z.grad_fn.register_hook(t.hook("post", lambda gs, _: (gs[0] + 1, gs[1] + 2)))
    z.sum().backward()


@program
def c11(t):
    """x.exp().sum(); on x a tensor hook T, prehook P of the accumulator, post-accumulate hook A, posthook Q of it"""
    x = t.leaf("x", 0.5, 0.25, -1.0)
    x.register_hook(t.hook("T", lambda g: g * 2))
    t.accumulator(x).register_prehook(t.hook("P", lambda gs: (gs[0] + 1,)))
    x.register_post_accumulate_grad_hook(t.hook("A", lambda p: None))
    t.accumulator(x).register_hook(t.hook("Q", lambda _, gs: None))
    x.exp().sum().backward()


class MySin(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.sin()

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return grad * x.cos()


@program
def c12(t):
    """MySin.apply(x).sum(), a Function that saves x"""
    x = t.leaf("x", 0.5, 0.25, -1.0)
    MySin.apply(x).sum().backward()


class SumAndProduct(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, y):
        ctx.save_for_backward(x, y)
        return x + y, x * y

    @staticmethod
    def backward(ctx, grad_sum, grad_product):
        x, y = ctx.saved_tensors
        return grad_sum + grad_product * y, grad_sum + grad_product * x


@program
def c12_two(t):
    """s, p = SumAndProduct.apply(x, y), a Function with two outputs; (s*p).sum()"""
    x, y = t.leaf("x", 1.0, 2.0, 3.0), t.leaf("y", 4.0, 5.0, 6.0)
    s, p = SumAndProduct.apply(x, y)
    (s * p).sum().backward()


@program
def c12_undefined(t):
    """as c12-two, only p is used: the gradient of s is made of zeros"""
    x, y = t.leaf("x", 1.0, 2.0, 3.0), t.leaf("y", 4.0, 5.0, 6.0)
    SumAndProduct.apply(x, y)[1].sum().backward()


class OnlyFirst(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, y):
        ctx.save_for_backward(x)
        return x * y

    @staticmethod
    def backward(ctx, grad):
        return grad * 2, None


@program
def c13(t):
    """OnlyFirst.apply(x, y.exp()).sum(), whose backward returns (2g, None)"""
    x, y = t.leaf("x", 1.0, 2.0, 3.0), t.leaf("y", 0.5, 0.25, -1.0)
    OnlyFirst.apply(x, y.exp()).sum().backward()


@program
def c14(t):
    """l=sigmoid(x*z+sin(y)+cos(y)).sum(); grad(l,[y,z])"""
    x, y = t.leaf("x", 1.0, 2.0, 3.0, requires_grad=False), t.leaf("y", 0.5, 0.25, -1.0)
    z = t.leaf("z", 0.25, 0.5, 0.75)
    loss = torch.sigmoid(x * z + y.sin() + y.cos()).sum()
    return torch.autograd.grad(loss, [y, z])


@program
def c15(t):
    """b=a.sin(); l=b.exp().sum(); tensor hooks hb and ha, prehooks pre_b and pre_a; grad(l,[b,a])"""
    a = t.leaf("a", 0.5, 0.25, -1.0)
    b = a.sin()
    b.register_hook(t.hook("hb", lambda g: g * 2))
    b.grad_fn.register_prehook(t.hook("pre_b", lambda gs: (gs[0] + 1,)))
    a.register_hook(t.hook("ha", lambda g: g * 5))
    t.accumulator(a).register_prehook(t.hook("pre_a"))
    return torch.autograd.grad(b.exp().sum(), [b, a])


@program
def c16(t):
    """x.exp().sum() twice, the second time x.grad is there"""
    x = t.leaf("x", 0.5, 0.25, -1.0)
    x.exp().sum().backward()
    x.exp().sum().backward()


@program
def c17(t):
    """backward((sin x, cos x),(g0,g1))"""
    x = t.leaf("x", 0.5, 0.25, -1.0)
    gradients = t.name("g0", torch.tensor([1.0, 2.0, 3.0])), t.name("g1", torch.tensor([4.0, 5.0, 6.0]))
    torch.autograd.backward((x.sin(), x.cos()), gradients)


@program
def c18(t):
    """(x+y).backward(g)"""
    x, y = t.leaf("x", 1.0, 2.0, 3.0), t.leaf("y", 4.0, 5.0, 6.0)
    (x + y).backward(t.name("g", torch.tensor([7.0, 8.0, 9.0])))


@program
def c18b(t):
    """((x+y)*2).sum(): both leaves take the same gradient"""
    x, y = t.leaf("x", 1.0, 2.0, 3.0), t.leaf("y", 4.0, 5.0, 6.0)
    ((x + y) * 2).sum().backward()


@program
def c18b_twice(t):
    """((x+y)*2).sum() twice: x.grad and y.grad must not be one memory"""
    x, y = t.leaf("x", 1.0, 2.0, 3.0), t.leaf("y", 4.0, 5.0, 6.0)
    ((x + y) * 2).sum().backward()
    ((x + y) * 2).sum().backward()


@program
def c19(t):
    """e=y.exp(); s=x.sin(); m=s*e; hooks on e and s; m.sum()"""
    x, y = t.leaf("x", 0.5, 0.25, -1.0), t.leaf("y", 1.0, 0.5, 0.25)
    e, s = y.exp(), x.sin()
    e.register_hook(t.hook("hook_e"))
    s.register_hook(t.hook("hook_s"))
    (s * e).sum().backward()


@program
def c20(t):
    """sin(x[n]).sum() at n = 10, 20, 30, 10"""
    for n in (10, 20, 30, 10):
        x = t.leaf(f"x{len(t.named)}", shape=(n,))
        x.sin().sum().backward()


@program
def c21(t):
    """y=x.clone(); y[1:3].mul_(2); y.sum()"""
    x = t.leaf("x", 1.0, 2.0, 3.0, 4.0)
    y = x.clone()
    y[1:3].mul_(2)
    y.sum().backward()


@program
def c21_set(t):
    """y=x.clone(); y[1:3]=0; y.sum()"""
    x = t.leaf("x", 1.0, 2.0, 3.0, 4.0)
    y = x.clone()
    y[1:3] = 0
    y.sum().backward()


@program
def c22(t):
    """h=X@w1.t(); o=h@w2.t(); a hook on h, post-accumulate hook `step` on w1; o.sum()"""
    x = t.leaf("X", shape=(2, 3), requires_grad=False)
    w1, w2 = t.leaf("w1", shape=(4, 3)), t.leaf("w2", shape=(2, 4))
    h = x @ w1.t()
    h.register_hook(t.hook("hook_h", lambda g: g * 2))
    w1.register_post_accumulate_grad_hook(t.hook("step"))
    (h @ w2.t()).sum().backward()


@program
def c23(t):
    """s=softmax(x); (s*s).sum()"""
    x = t.leaf("x", 0.5, 0.25, -1.0)
    s = torch.softmax(x, 0)
    (s * s).sum().backward()


@program
def c24(t):
    """(A@B@C).sum()"""
    a, b, c = t.leaf("A", shape=(2, 3)), t.leaf("B", shape=(3, 4)), t.leaf("C", shape=(4, 2))
    (a @ b @ c).sum().backward()


@program
def c25(t):
    """x.backward(g) of a leaf, with a hook on it"""
    x = t.leaf("x", 1.0, 2.0, 3.0)
    x.register_hook(t.hook("h", lambda g: g * 2))
    x.backward(t.name("g", torch.tensor([7.0, 8.0, 9.0])))


@program
def c26(t):
    """c02 as two Linear layers and ReLU, batches of 10, 11 and 12"""
    torch.manual_seed(1)
    layers = [torch.nn.Linear(4, 4), torch.nn.ReLU(), torch.nn.Linear(4, 4), torch.nn.ReLU()]
    model = torch.nn.Sequential(*layers)
    for name, parameter in model.named_parameters():
        t.name(name, parameter).data = t.leaf("", shape=parameter.shape, requires_grad=False)
    del t.named[""]
    for batch in (10, 11, 12):
        model.zero_grad()
        model(torch.ones(batch, 4)).sum().backward()


@program
def c27(t):
    """cat([x0..x3]).sum()"""
    leaves = [t.leaf(f"x{i}", i + 1.0) for i in range(4)]
    torch.cat(leaves).sum().backward()


def sine_product(x, y):
    return (x.sin() * y).sum()


@program
def c28(t):
    """(x.sin()*y).sum(), compiled"""
    x, y = t.leaf("x", 0.5, 0.25, -1.0), t.leaf("y", 4.0, 5.0, 6.0)
    torch.compile(sine_product, backend="aot_eager")(x, y).backward()


@program
def c28_dynamic(t):
    """(x.sin()*y).sum(), compiled with dynamic shapes, at n = 3, 5, 6"""
    step = torch.compile(sine_product, backend="aot_eager", dynamic=True)
    for n in (3, 5, 6):
        x, y = t.leaf(f"x{n}", shape=(n,)), t.leaf(f"y{n}", shape=(n,))
        step(x, y).backward()


@program
def c29(t):
    """y=x.sin(); a hook on y; (y*y).sum(), compiled"""
    x = t.leaf("x", 0.5, 0.25, -1.0)

    def h(grad):
        return grad * 2

    def function(x):
        y = x.sin()
        y.register_hook(h)
        return (y * y).sum()

    torch.compile(function, backend="aot_eager")(x).backward()


# ---- the order of the eager engine -----------------------------------------------------------------


def e01_leaf(t):
    a = t.leaf("a", 1.0, 2.0)
    b = a.clone()
    b.grad_fn.register_prehook(t.hook("b P2", lambda gs: (gs[0] * 2,)))
    b.register_hook(t.hook("b T1", lambda g: g * 3))
    b.grad_fn.register_prehook(t.hook("b P2 again", lambda gs: (gs[0] * 2,)))
    a.register_hook(t.hook("a T1", lambda g: g * 3))
    t.accumulator(a).register_prehook(t.hook("a P2", lambda gs: (gs[0] * 2,)))
    a.register_hook(t.hook("a T1 again", lambda g: g * 3))
    return a, b


@program
def e01(t):
    """b=a.clone(); on b prehook, tensor hook, prehook; on a tensor hook, prehook, tensor hook; b.sum()"""
    _, b = e01_leaf(t)
    b.sum().backward()


@program
def e02(t):
    """e01, grad(b.sum(),[a])"""
    a, b = e01_leaf(t)
    return torch.autograd.grad(b.sum(), [a])


@program
def e03(t):
    """e01, b.sum().backward(inputs=[b])"""
    _, b = e01_leaf(t)
    t.name("b", b)
    b.sum().backward(inputs=[b])


@program
def e04(t):
    """t: tensor hook g-2, prehook g/5, post-accumulate hook grad += 0.5, posthook grad = g*10"""
    leaf = t.leaf("t", 1.0)

    def post_accumulate(p):
        p.grad += 0.5

    def post(_, gs):
        leaf.grad = gs[0] * 10

    leaf.register_hook(t.hook("tensor", lambda g: g - 2))
    t.accumulator(leaf).register_prehook(t.hook("pre", lambda gs: (gs[0] / 5,)))
    leaf.register_post_accumulate_grad_hook(t.hook("post-accumulate", post_accumulate))
    t.accumulator(leaf).register_hook(t.hook("post", post))
    leaf.sum().backward()


@program
def e05(t):
    """b=a.clone(); hook *2; retain_grad; hook *2; b.clone().sum()"""
    b = t.leaf("a", 1.0, 2.0).clone()
    b.register_hook(t.hook("first", lambda g: g * 2))
    t.name("b", b).retain_grad()
    b.register_hook(t.hook("second", lambda g: g * 2))
    b.clone().sum().backward()


@program
def e06(t):
    """y=2*x; prehooks *2, None, *2, *2, the same, None; a posthook"""
    y = 2 * t.leaf("x", 1.0)
    for i, change in enumerate((2, None, 2, 2, 1, None)):
        change_all = {None: lambda gs: None, 1: lambda gs: gs, 2: lambda gs: tuple(g * 2 for g in gs)}[change]
        y.grad_fn.register_prehook(t.hook(f"pre{i}", change_all))
    y.grad_fn.register_hook(t.hook("post"))
    y.sum().backward()


def e07_leaf(t):
    x = t.leaf("x", 1.0)
    a = 2 * x
    b = 2 * a
    for name, tensor in (("a", a), ("b", b)):
        tensor.register_hook(t.hook(f"{name} tensor"))
        tensor.grad_fn.register_prehook(t.hook(f"{name} pre"))
        tensor.grad_fn.register_hook(t.hook(f"{name} post"))
    return a, b, 2 * b


@program
def e07(t):
    """a=2x, b=2a, c=2b with hooks of all kinds; grad(c,[b])"""
    _, b, c = e07_leaf(t)
    return torch.autograd.grad(c.sum(), [b])


@program
def e07_both(t):
    """e07, grad(c,[a,b])"""
    a, b, c = e07_leaf(t)
    return torch.autograd.grad(c.sum(), [a, b])


@program
def e07_backward(t):
    """e07, c.backward()"""
    e07_leaf(t)[2].sum().backward()


@program
def e08(t):
    """b=a.clone(); hook f1; b.mul_(2); hook f2; b.sum()"""
    b = t.leaf("a", 1.0, 2.0).clone()
    b.register_hook(t.hook("f1", lambda g: g * 2))
    b.mul_(2)
    b.register_hook(t.hook("f2", lambda g: g * 2))
    b.sum().backward()


@program
def e10(t):
    """cat([x0..x7]).sum(), a tensor hook on each leaf"""
    leaves = [t.leaf(f"x{i}", i + 1.0) for i in range(8)]
    for i, leaf in enumerate(leaves):
        leaf.register_hook(t.hook(f"h{i}"))
    torch.cat(leaves).sum().backward()


@program
def e11(t):
    """e=y.exp(); s=x.sin(); m=s*e; hooks on m, s, x, e, y; m.sum()"""
    x, y = t.leaf("x", 0.5, 0.25), t.leaf("y", 1.0, 0.5)
    e, s = y.exp(), x.sin()
    m = s * e
    for name, tensor in (("m", m), ("s", s), ("x", x), ("e", e), ("y", y)):
        tensor.register_hook(t.hook(name))
    m.sum().backward()


@program
def e12(t):
    """(x*z + y.sin() + y.cos()).sigmoid().sum(), hooks on the leaves y and z and on each node"""
    x, y, z = t.leaf("x", 2.0, requires_grad=False), t.leaf("y", 0.5), t.leaf("z", 0.25)
    parts = {"mul": x * z, "sin": y.sin(), "cos": y.cos()}
    parts["add"] = parts["mul"] + parts["sin"]
    parts["add_1"] = parts["add"] + parts["cos"]
    parts["sigmoid"] = parts["add_1"].sigmoid()
    for name, tensor in {**parts, "y": y, "z": z}.items():
        tensor.register_hook(t.hook(name))
    parts["sigmoid"].sum().backward()


class NoGradient(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.clone()

    @staticmethod
    def backward(ctx, grad):
        return None


@program
def e13(t):
    """h=x.exp(); a Function of h whose backward returns None; hooks on h, its node, and x"""
    x = t.leaf("x", 0.5)
    h = x.exp()
    h.register_hook(t.hook("h"))
    h.grad_fn.register_hook(t.hook("post"))
    x.register_hook(t.hook("x"))
    NoGradient.apply(h).sum().backward()


@program
def e14(t):
    """callbacks queued in a backward, one of which queues another"""
    engine = torch.autograd.Variable._execution_engine

    def second():
        t.note("cb1")
        engine.queue_callback(lambda: t.note("cb1n"))

    class Queueing(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.clone()

        @staticmethod
        def backward(ctx, grad):
            t.note("bw")
            engine.queue_callback(second)
            engine.queue_callback(lambda: t.note("cb2"))
            return grad

    Queueing.apply(t.leaf("x", 0.5)).sum().backward()


@program
def e15(t):
    """a=My(6.0), b=Reentrant(9.0), (a*b).backward(): a backward in a backward"""

    class My(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.clone()

        @staticmethod
        def backward(ctx, grad):
            t.note("My")
            return grad

    class Reentrant(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            with torch.enable_grad():
                ctx.x = x.detach().requires_grad_() - 1
            return ctx.x.detach().clone()

        @staticmethod
        def backward(ctx, grad):
            t.note("Reentrant")
            if ctx.x < 0:
                return grad
            with torch.enable_grad():
                Reentrant.apply(ctx.x).backward()
            return grad

    a, b = My.apply(t.leaf("a", 6.0)), Reentrant.apply(t.leaf("b", 9.0))
    (a * b).backward()


@program
def e16(t):
    """(E.apply(a)+b).sum() where E.backward raises"""

    class Raising(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.clone()

        @staticmethod
        def backward(ctx, grad):
            raise ValueError("raised in a backward")

    a, b = t.leaf("a", 1.0), t.leaf("b", 2.0)
    (Raising.apply(a) + b).sum().backward()


@program
def e17(t):
    """h1 removes h2, both on x; two backwards"""
    x = t.leaf("x", 1.0)
    handles = []
    x.register_hook(t.hook("h1", lambda g: handles[0].remove()))
    handles.append(x.register_hook(t.hook("h2")))
    for _ in range(2):
        x.sin().sum().backward()


@program
def e18(t):
    """a multi-grad hook of any of two tensors, and a hook on what both come from"""
    z = t.leaf("x", 0.5) * 2
    z.register_hook(t.hook("z"))
    a, b = z.sin(), z.cos()
    torch.autograd.graph.register_multi_grad_hook((a, b), t.hook("any"), mode="any")
    (a + b).sum().backward()


@program
def e19(t):
    """backward((y,y),(1,10)) with y=2x"""
    y = 2 * t.leaf("x", 1.0)
    torch.autograd.backward((y, y), (torch.tensor([1.0]), torch.tensor([10.0])))


@program
def e19_pack(t):
    """x*x with hooks for saved tensors"""
    x = t.leaf("x", 3.0)
    with torch.autograd.graph.saved_tensors_hooks(t.hook("pack", lambda v: v), t.hook("unpack", lambda v: v)):
        y = x * x
    y.sum().backward()


# ---- checkpoints, trace_wrapped --------------------------------------------------------------------


def sine_cosine(x):
    s = x.sin()
    return s * s.cos()


@program
def f2(t):
    """checkpoint of sin(x)*cos(sin(x)), summed"""
    checkpoint(sine_cosine, t.leaf("x", 0.5, 0.25, -1.0), use_reentrant=False).sum().backward()


@program
def f2_reentrant(t):
    """f2 with the checkpoint whose backward calls backward"""
    checkpoint(sine_cosine, t.leaf("x", 0.5, 0.25, -1.0), use_reentrant=True).sum().backward()


def mul_self(grad):
    return grad * grad


def traced_w1():
    return make_fx(lambda grad: trace_wrapped(grad, fn=mul_self))(torch.tensor([1.0, 2.0, 3.0]))


@program
def w2(t):
    """x+y, x has the hook trace_wrapped(fn=mul_self); backward(g)"""
    x, y = t.leaf("x", 1.0, 2.0, 3.0), t.leaf("y", 4.0, 5.0, 6.0)
    x.register_hook(t.hook("x", lambda g: trace_wrapped(g, fn=mul_self)))
    (x + y).backward(t.name("g", torch.tensor([7.0, 8.0, 9.0])))


@program
def inputs_argument(t):
    """(x*y).sum().backward(inputs=[x])"""
    x, y = t.leaf("x", 1.0, 2.0, 3.0), t.leaf("y", 4.0, 5.0, 6.0)
    (x * y).sum().backward(inputs=[x])
