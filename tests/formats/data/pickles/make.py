# SPDX-License-Identifier: MIT
"""Pickles of tensors and of arrays of numpy without an archive around them.

    python make.py FOLDER

writes FOLDER/named-PROTOCOL.pkl (by pickle), stream.pt (by torch.save as before 1.6), archive.pt (arrays in an archive) and
conjugate.pkl. The files here were made by PyTorch 2.15 and numpy 2.4, Python 3.11.
"""
import pathlib
import pickle
import sys

import numpy
import torch

folder = pathlib.Path(sys.argv[1])
base = torch.arange(12.).reshape(3, 4)
named = {
    "x": base[1:, ::2],
    "short": numpy.arange(6, dtype=numpy.int16).reshape(2, 3) - 200,
    "turned": numpy.asfortranarray(numpy.arange(6.).reshape(2, 3)),
    "axes": numpy.arange(12, dtype=numpy.int8).reshape(2, 2, 3).transpose(1, 0, 2),  # from numpy 2.3 on in order 'K'
    "number": numpy.float32(2.5),
    "parameter": torch.nn.Parameter(torch.ones(2, dtype=torch.bfloat16)),
    "none": numpy.zeros((0, 3), dtype=numpy.complex64),
    "flags": numpy.array([True, False]),
    "half": numpy.array([1.5], dtype=numpy.float16),
    "many": numpy.uint32([4000000000]),
    "other": numpy.array([1., 2.], dtype=">f8"),  # not read: of another byte order
    "text": "abc",
    "inner": {"flag": torch.tensor(True), "list": torch.tensor([1, 2, 3])},
}
for protocol in (2, 3, 4, 5):
    (folder / f"named-{protocol}.pkl").write_bytes(pickle.dumps(named, protocol=protocol))
(folder / "conjugate.pkl").write_bytes(pickle.dumps({"x": torch.tensor([1 + 2j]).conj()}))
torch.save(named, folder / "archive.pt")
torch.save({"w": base, "v": base.t(), "u": base[2], "i": torch.tensor([7])}, folder / "stream.pt",
           _use_new_zipfile_serialization=False)
