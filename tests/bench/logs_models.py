# SPDX-License-Identifier: MIT
"""Models whose logs bench-logs.py reads: logs_models.py NAME [BACKEND].  Each is a small typical training step."""
import sys

import torch
from torch import nn
from torch.nn import functional as F

from logs_programs import compiled


class Residual(nn.Module):
    def __init__(self, width, stride):
        super().__init__()
        self.first, self.second = nn.Conv2d(width, width, 3, stride, 1, bias=False), nn.Conv2d(width, width, 3, 1, 1, bias=False)
        self.norms = nn.ModuleList(nn.BatchNorm2d(width) for _ in range(2))
        self.skip = nn.Sequential(nn.AvgPool2d(stride), nn.Conv2d(width, width, 1)) if stride > 1 else nn.Identity()

    def forward(self, x):
        y = F.relu(self.norms[0](self.first(x)))
        return F.relu(self.norms[1](self.second(y)) + self.skip(x))


def vision():
    """Convolutions in channels-last bfloat16, label smoothing, gradient clipping, a learning rate schedule, weight
    averaging."""
    model = nn.Sequential(nn.Conv2d(3, 8, 7, 2, 3), nn.MaxPool2d(3, 2, 1), Residual(8, 1), Residual(8, 2),
                          nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(8, 5)).to(memory_format=torch.channels_last)
    optimizer = torch.optim.SGD(model.parameters(), 0.1, momentum=0.9, weight_decay=1e-4)
    schedule, fast = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 10), compiled(model)
    average = [p.detach().clone() for p in model.parameters()]
    update = compiled(lambda a, p: torch._foreach_lerp_(a, p, 0.1))
    for _ in range(2):
        x = torch.randn(4, 3, 32, 32).to(memory_format=torch.channels_last)
        with torch.autocast("cpu", torch.bfloat16):
            loss = F.cross_entropy(fast(x), torch.randint(5, (4,)), label_smoothing=0.1)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        optimizer.zero_grad()
        with torch.no_grad():
            update(average, [p.detach() for p in model.parameters()])
    model.eval()
    with torch.inference_mode():
        fast(x)


class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.words, self.rnn = nn.Embedding(50, 8, padding_idx=0), nn.LSTM(8, 6, 2, batch_first=True, bidirectional=True)
        self.cell, self.head = nn.GRUCell(12, 12), nn.Linear(12, 7)

    def forward(self, words, lengths):
        states, (hidden, _) = self.rnn(self.words(words))
        state, steps = hidden[-2:].transpose(0, 1).flatten(1), []
        for i in range(states.shape[1]):
            state = self.cell(states[:, i], state)
            steps.append(state)
        mask = torch.arange(states.shape[1]) < lengths[:, None]
        return self.head(torch.stack(steps, 1)).masked_fill(~mask[..., None], 0.0)


def text():
    """A recurrent model over padded sentences of two lengths."""
    model = Tagger()
    fast = compiled(model)
    for length in (5, 9):
        words = torch.randint(1, 50, (3, length))
        scores = fast(words, torch.tensor([length, length - 1, 2]))
        F.cross_entropy(scores.flatten(0, 1), torch.randint(7, (3 * length,)), ignore_index=0).backward()


class Encoder(nn.Module):
    def __init__(self, width=16, heads=4):
        super().__init__()
        self.words, self.places, self.norm = nn.Embedding(60, width), nn.Embedding(32, width), nn.LayerNorm(width, eps=1e-12)
        self.query, self.key, self.value, self.out = (nn.Linear(width, width) for _ in range(4))
        self.up, self.down, self.pool, self.heads = nn.Linear(width, 32), nn.Linear(32, width), nn.Linear(width, width), heads

    def split(self, x):
        return x.view(x.shape[0], x.shape[1], self.heads, -1).permute(0, 2, 1, 3)

    def forward(self, ids, attention_mask=None, labels=None, output_hidden_states=False):
        if attention_mask is None:
            attention_mask = torch.ones_like(ids)
        bias = (1.0 - attention_mask[:, None, None, :].to(self.norm.weight.dtype)) * torch.finfo(torch.float32).min
        x = self.norm(self.words(ids) + self.places(torch.arange(ids.shape[1], device=ids.device)))
        all_states = (x,)
        for _ in range(2):
            y = F.scaled_dot_product_attention(self.split(self.query(x)), self.split(self.key(x)), self.split(self.value(x)),
                                               attn_mask=bias)
            x = self.norm(x + self.out(y.transpose(1, 2).reshape(x.shape)))
            x = self.norm(x + self.down(F.gelu(self.up(x), approximate="tanh")))
            all_states += (x,)
        pooled = torch.tanh(self.pool(x[:, 0]))
        result = {"pooled": pooled, "hidden": all_states if output_hidden_states else None}
        if labels is not None:
            result["loss"] = F.cross_entropy(x @ self.words.weight.t(), labels) if labels.dim() > 2 else \
                F.cross_entropy((x @ self.words.weight.t()).view(-1, 60), labels.view(-1))
        return result


def encoder():
    """In the style of library encoders: padding mask, dicts of results, tied weights, with and without labels."""
    fast = compiled(Encoder())
    ids, mask = torch.randint(60, (2, 8)), torch.tensor([[1] * 8, [1] * 5 + [0] * 3])
    fast(ids, attention_mask=mask, labels=ids.masked_fill(mask == 0, -100))["loss"].backward()
    with torch.no_grad():
        fast(ids, output_hidden_states=True)


def functional():
    """Steps of torch.func: per-sample gradients, Hessian-vector products, a differentiated inner step."""
    model = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 2))
    parameters = {name: p.detach() for name, p in model.named_parameters()}

    def loss(parameters, x, y):
        return F.mse_loss(torch.func.functional_call(model, parameters, (x,)), y)

    def per_sample(parameters, x, y):
        return torch.func.vmap(torch.func.grad(loss), in_dims=(None, 0, 0))(parameters, x, y)

    def product(parameters, x, y, v):
        return torch.func.jvp(lambda p: torch.func.grad(loss)(p, x, y), (parameters,), (v,))[1]

    def meta(parameters, x, y):
        inner = torch.func.grad(loss)(parameters, x, y)
        return loss({name: p - 0.1 * inner[name] for name, p in parameters.items()}, x, y)

    x, y = torch.randn(5, 4), torch.randn(5, 2)
    for step in (lambda: compiled(per_sample)(parameters, x, y), lambda: compiled(torch.func.grad(meta))(parameters, x, y),
                 lambda: compiled(lambda x: torch.func.jacrev(lambda z: model(z).sin())(x))(x[0]),
                 lambda: compiled(product)(parameters, x, y, parameters)):  # crashes 2.15
        try:
            step()
        except Exception as error:  # not supported by older releases
            print("left out:", type(error).__name__, str(error).splitlines()[:1])


class Diffusion(nn.Module):
    def __init__(self):
        super().__init__()
        self.time, self.down, self.up = nn.Linear(8, 8), nn.Conv1d(2, 8, 4, 2, 1), nn.ConvTranspose1d(8, 2, 4, 2, 1)
        self.norm, self.mix = nn.GroupNorm(2, 8), nn.MultiheadAttention(8, 2, batch_first=True)

    def forward(self, x, t):
        angles = t[:, None] * torch.exp(torch.linspace(0, -4, 4))
        h = F.silu(self.norm(self.down(x)) + self.time(torch.cat([angles.sin(), angles.cos()], 1))[:, :, None])
        h = h + self.mix(h.transpose(1, 2), h.transpose(1, 2), h.transpose(1, 2), need_weights=False)[0].transpose(1, 2)
        return self.up(F.interpolate(h, scale_factor=1.0, mode="linear"))


def diffusion():
    """Denoising: random times and noise inside the compiled function, complex spectra in the loss."""
    model = Diffusion()

    @compiled
    def step(x):
        t, noise = torch.rand(x.shape[0]), torch.randn_like(x)
        wrong = model(x * (1 - t)[:, None, None] + noise * t[:, None, None], t) - noise
        return wrong.square().mean() + torch.fft.rfft(wrong).abs().mean()

    step(torch.randn(2, 2, 16)).backward()


if __name__ == "__main__":
    torch.manual_seed(0)
    globals()[sys.argv[1]]()
