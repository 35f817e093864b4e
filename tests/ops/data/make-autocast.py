# SPDX-License-Identifier: MIT
"""Lists how autocast casts the arguments of each operator, on the CPU and on CUDA, in PyTorch 2.6.

    python make-autocast.py > autocast.txt

The dispatcher lists the operators; a header of PyTorch says how they are cast on CUDA.  For the CPU it does
not: the two short lists are here, and all others run in float32."""

import os
import re

import torch

LOWER = """conv1d conv1d.padding conv2d conv2d.padding conv3d conv3d.padding bmm mm linalg_vecdot baddbmm addmm
_addmm_activation addbmm linear _convolution.deprecated matmul conv_tbc mkldnn_rnn_layer conv_transpose1d
conv_transpose2d.input conv_transpose3d.input prelu scaled_dot_product_attention _native_multi_head_attention""".split()
WIDEST = "stack cat index_copy index_copy.dimname".split()
POLICIES = {"LOWER_PRECISION_FP": "LOWER", "FP32": "F32", "FP32_SET_OPT_DTYPE": "RESULT", "PROMOTE": "WIDEST"}
OTHERS = {  # norm is called with a dtype, which is equivalent
    "cudnn_convolution": "LOWER", "cudnn_convolution_transpose": "LOWER", "_cudnn_rnn": "LOWER",
    "binary_cross_entropy": "REFUSED",
    "norm.Scalar": "F32", "norm.ScalarOpt_dim": "F32", "norm.names_ScalarOpt_dim": "F32",
}  # fmt: skip


def registered(key):
    names = torch._C._dispatch_get_all_op_names()
    return {n[6:] for n in names if n[:6] == "aten::" and torch._C._dispatch_has_kernel_for_dispatch_key(n, key)}


def cuda_policies():
    path = os.path.join(os.path.dirname(torch.__file__), "include", "ATen", "autocast_mode.h")
    header = open(path).read().replace("\\\n", " ")
    found = dict(OTHERS)
    for macro, policy in POLICIES.items():
        for row in re.findall(r"_\(([\w, ]+)\)", re.search(rf"AT_FORALL_{macro}\(_\)(.*)", header)[1]):
            found[".".join(part.strip() for part in row.split(","))] = policy
    return found


cuda, on_cpu = cuda_policies(), registered("AutocastCPU")
assert set(cuda) == registered("AutocastCUDA"), set(cuda) ^ registered("AutocastCUDA")
assert on_cpu >= {*LOWER, *WIDEST}
for name in sorted(on_cpu | set(cuda)):
    cpu = "LOWER" if name in LOWER else "WIDEST" if name in WIDEST else "F32" if name in on_cpu else "NONE"
    print(f"aten::{name} {cpu} {cuda.get(name, 'NONE')}")
