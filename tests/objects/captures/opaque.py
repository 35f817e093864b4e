#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes opaque.pt2: a program of torch.export of PyTorch 2.15 with an object of a class that
torch._library.opaque_object registered.

    opaque.py
"""

import pathlib

import torch
from torch._library.opaque_object import CustomClassBase, register_custom_class


class Box(CustomClassBase):
    def __init__(self):
        self.weight, self.name, self.steps = 2.0, "box", [1, 2, {"deep": True}]


register_custom_class(Box, typ="symbolic")


@torch.library.custom_op("mine::scale", mutates_args=())
def scale(x: torch.Tensor, box: Box) -> torch.Tensor:
    return x * box.weight


@scale.register_fake
def _(x, box):
    return torch.empty_like(x)


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.box = Box()

    def forward(self, x):
        return scale(x, self.box) + 1


torch.export.save(torch.export.export(Model(), (torch.ones(3),)), pathlib.Path(__file__).with_name("opaque.pt2"))
