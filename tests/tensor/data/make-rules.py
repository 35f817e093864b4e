# SPDX-License-Identifier: MIT
"""Writes rules.txt: the examples of tensor/SPEC.md §1 to 3, as calls on tensors of given dtype, size and
stride, each with PyTorch's result ("error": refused).  Run with PyTorch 2.6."""

import pathlib
import re

import torch

CODES = {
    "b8": torch.bool, "u8": torch.uint8, "i8": torch.int8, "i16": torch.int16,
    "i32": torch.int32, "i64": torch.int64, "f16": torch.float16, "bf16": torch.bfloat16,
    "f32": torch.float32, "f64": torch.float64, "c32": torch.complex32, "c64": torch.complex64,
    "c128": torch.complex128,
}
NAMES = {dtype: code for code, dtype in CODES.items()}

CL = "f32[2, 3, 4, 5][60, 1, 15, 3]"
PLAIN = "f32[2, 3, 4, 5][60, 20, 5, 1]"

ROWS = [
    ("1/sizes", "f32[2, 1, 3][3, 3, 1] f32[4, 1][1, 1]", "add.Tensor(a, b)"),
    ("1/refused", "f32[2, 3][3, 1] f32[4][1]", "add.Tensor(a, b)"),
    ("1/expand-gives-stride-0", "f32[3, 1][1, 1]", "expand.default(a, [2, 3, 4])"),
    ("1/0-against-1", "f32[0][1] f32[1][1]", "add.Tensor(a, b)"),
    ("1/0-against-1-twice", "f32[3, 1][1, 1] f32[1, 0][1, 1]", "add.Tensor(a, b)"),
    ("2/i8-300", "i8[2][1]", "add.Tensor(a, 300)"),
    ("2/i32-2.5", "i32[2][1]", "add.Tensor(a, 2.5)"),
    ("2/f16-f64-scalar", "f16[2][1] f64[][]", "add.Tensor(a, b)"),
    ("2/i64-f16-scalar", "i64[2][1] f16[][]", "add.Tensor(a, b)"),
    ("2/i8-i64-scalar", "i8[2][1] i64[][]", "add.Tensor(a, b)"),
    ("2/bool-1", "b8[2][1]", "add.Tensor(a, 1)"),
    ("2/bf16-1j", "bf16[2][1]", "mul.Scalar(a, 1j)"),
    ("2/promote/u8-i8", "u8[2][1] i8[2][1]", "mul.Tensor(a, b)"),
    ("2/promote/u8-i32", "u8[2][1] i32[2][1]", "mul.Tensor(a, b)"),
    ("2/promote/i16-i64", "i16[2][1] i64[2][1]", "mul.Tensor(a, b)"),
    ("2/promote/bool-i8", "b8[2][1] i8[2][1]", "mul.Tensor(a, b)"),
    ("2/promote/f16-bf16", "f16[2][1] bf16[2][1]", "mul.Tensor(a, b)"),
    ("2/promote/f32-f64", "f32[2][1] f64[2][1]", "mul.Tensor(a, b)"),
    ("2/promote/i64-f16", "i64[2][1] f16[2][1]", "mul.Tensor(a, b)"),
    ("2/promote/c64-f64", "c64[2][1] f64[2][1]", "mul.Tensor(a, b)"),
    ("2/promote/c64-f32", "c64[2][1] f32[2][1]", "mul.Tensor(a, b)"),
    ("2/combine/f16-complex", "f16[2][1] c64[][]", "mul.Tensor(a, b)"),
    ("2/combine/f64-complex", "f64[2][1] c64[][]", "mul.Tensor(a, b)"),
    ("2/combine/0-d-and-number", "i8[][]", "mul.Tensor(a, 2.5)"),
    ("2/kind/no-opmath-where", "b8[2][1] f16[2][1] f32[2][1]", "where.self(a, b, c)"),
    ("2/kind/no-opmath-cat", "f16[2][1] i64[2][1]", "cat.default([a, b])"),
    ("2/kind/int-to-float-sin", "i64[2][1]", "sin.default(a)"),
    ("2/kind/int-to-float-div", "i64[2][1] i32[2][1]", "div.Tensor(a, b)"),
    ("2/kind/int-to-float-exp", "b8[2][1]", "exp.default(a)"),
    ("2/kind/int-to-float-f16", "f16[2][1]", "exp.default(a)"),
    ("2/kind/always-bool-gt", "f32[2][1]", "gt.Scalar(a, 0)"),
    ("2/kind/always-bool-logical", "f32[2][1] i8[2][1]", "logical_and.default(a, b)"),
    ("2/kind/complex-to-float", "c64[2][1]", "abs.default(a)"),
    ("2/kind/bool-to-long", "b8[2][1]", "pow.Tensor_Scalar(a, 2)"),
    ("2/reduction/sum-of-bool", "b8[2][1]", "sum.default(a)"),
    ("2/reduction/sum-of-i32", "i32[2][1]", "sum.default(a)"),
    ("2/reduction/prod-of-u8", "u8[2][1]", "prod.default(a)"),
    ("2/reduction/dtype-wins", "i32[2][1]", "sum.default(a, dtype = torch.float16)"),
    ("2/reduction/mean-of-int", "i64[2][1]", "mean.default(a)"),
    ("2/alpha-takes-no-part", "i32[2][1] i32[2][1]", "add.Tensor(a, b, alpha = 2)"),
    ("2/in-place/float-to-int", "i64[2][1] f32[2][1]", "add_.Tensor(a, b)"),
    ("2/in-place/same-category", "f16[2][1] f32[2][1]", "add_.Tensor(a, b)"),
    ("2/in-place/may-not-grow", "f32[1][1] f32[2][1]", "add_.Tensor(a, b)"),
    ("3/all-contiguous", PLAIN + " " + PLAIN, "add.Tensor(a, b)"),
    ("3/all-channels_last", CL + " " + CL, "add.Tensor(a, b)"),
    ("3/all-equal-and-dense", "f32[2, 3][1, 2] f32[2, 3][1, 2]", "add.Tensor(a, b)"),
    ("3/contiguous-channels_last", PLAIN + " " + CL, "add.Tensor(a, b)"),
    ("3/channels_last-contiguous", CL + " " + PLAIN, "add.Tensor(a, b)"),
    ("3/gaps-close", "f32[4, 3][1, 8]", "neg.default(a)"),
    ("3/0-d-has-no-say", "f32[][] f32[2, 3][1, 2]", "add.Tensor(a, b)"),
    ("3/broadcast-is-ambiguous", "f32[1, 3][3, 1] f32[2, 3][1, 2]", "add.Tensor(a, b)"),
    ("3/expanded", "f32[2, 3][0, 1]", "neg.default(a)"),
    ("3/size-0", "f32[2, 0, 3][1, 2, 0] f32[2, 0, 3][1, 2, 0]", "add.Tensor(a, b)"),
    ("3/three-operands", "b8[2, 3][3, 1] f32[2, 3][1, 2] f32[2, 3][1, 2]",
     "where.self(a, b, c)"),
    ("3/preserve-dense", "f32[2, 3, 4][1, 8, 2]", "clone.default(a)"),
    ("3/preserve-permuted", "f32[2, 3, 4][1, 16, 4]", "clone.default(a)"),
    ("3/preserve-like", "f32[2, 3][1, 2]", "empty_like.default(a)"),
    ("3/view/merges", "f32[2, 3, 4][12, 4, 1]", "view.default(a, [6, 4])"),
    ("3/view/cannot-merge", "f32[2, 3][1, 2]", "view.default(a, [6])"),
    ("3/view/transposes-permute", "f32[2, 3, 4][12, 4, 1]", "permute.default(a, [2, 0, 1])"),
    ("3/view/expand", "f32[3, 1][1, 1]", "expand.default(a, [-1, 4])"),
    ("3/view/slice", "f32[10, 3][3, 1]", "slice.Tensor(a, 0, 1, 100, 4)"),
    ("3/view/select", "f32[2, 3, 4][12, 4, 1]", "select.int(a, 1, 2)"),
    ("3/view/as_strided", "f32[12][1]", "as_strided.default(a, [2, 2], [1, 3], 4)"),
]


def make(text):
    code, size, stride = re.fullmatch(r"(\w+)\[(.*)\]\[(.*)\]", text).groups()
    ints = [[int(word) for word in part.split(",") if word] for part in (size, stride)]
    return torch.empty_strided(*ints, dtype=CODES[code]).zero_()


def run(parameters, call):
    values = re.findall(r"\w+\[[^\]]*\]\[[^\]]*\]", parameters)
    names = {name: make(text) for name, text in zip("abc", values)}
    try:
        made = eval("torch.ops.aten." + call, {"torch": torch}, names)
    except RuntimeError:
        return "error", ""
    text = f"{NAMES[made.dtype]}{list(made.shape)}{list(made.stride())}cpu"
    return text, f" @{made.storage_offset()}" if made.storage_offset() else ""


def main():
    lines = []
    for name, parameters, call in ROWS:
        values = re.findall(r"\w+\[[^\]]*\]\[[^\]]*\]", parameters)
        taken = ", ".join(f'{n}: "{v}cpu"' for n, v in zip("abc", values))
        lines.append("\t".join((name, taken, "torch.ops.aten." + call, "".join(run(parameters, call)))))
    pathlib.Path(__file__).with_name("rules.txt").write_text("\n".join(lines) + "\n")


main()
