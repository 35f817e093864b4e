# SPDX-License-Identifier: MIT
"""Cases missing in the files of cases/: each operator in each dtype and each layout."""
from oracle import *

DTYPES = (F32, F64, F16, BF16, I64, I32, I8, U8, B8)
UNIT = {F16: 2.0 ** -11, BF16: 2.0 ** -8}

INTEGERS = (I64, I32, I8, U8, B8)
# all kinds of these are recorded; norms of matrices are those of linalg_vector_norm, which are all recorded
COMPLETE = ("nonzero", "linalg_norm", "linalg_matrix_norm", "mkldnn_rnn_layer_backward")
# expanded matrices are singular: factorizations of their rounding errors, and of empty ones in other dtypes, cannot be
# compared
FACTORIZED = ("linalg_cholesky_ex", "cholesky", "cholesky_inverse", "cholesky_solve", "linalg_lu_factor_ex", "linalg_lu",
              "lu_unpack", "linalg_lu_solve", "_linalg_solve_ex", "linalg_inv_ex", "_linalg_det", "_linalg_slogdet",
              "linalg_ldl_factor_ex", "linalg_ldl_solve", "linalg_qr", "geqrf", "linalg_householder_product", "ormqr",
              "_linalg_eigh", "_linalg_svd", "linalg_eig", "_linalg_eigvals", "linalg_pinv", "linalg_matrix_exp",
              "linalg_solve_triangular", "triangular_solve")
SKIPPED = {
    **dict.fromkeys(FACTORIZED, (*DTYPES, "expanded")),
    # with another dtype the recorded buffer does not belong to the input
    "log_sigmoid_backward": DTYPES,
    # no sensible results for integers; written contiguous, while traced graphs have pointwise strides
    "mse_loss_backward": (*INTEGERS, "dense"), "smooth_l1_loss_backward": (*INTEGERS, "dense"),
    "huber_loss_backward": (*INTEGERS, "dense"),
    "_reshape_alias": ("empty",),  # sizes are not checked, so memory that was there before is visible
    # a layout that depends on the kernel
    "index": ("dense",), "_unsafe_index": ("dense",),
    # if several values have one destination, any may win
    "index_put": ("expanded",), "_unsafe_index_put": ("expanded",), "scatter": ("expanded",),
    # reads out of bounds: sizes are not checked, and statistics are assumed contiguous
    "_native_batch_norm_legit_functional": ("empty",), "_native_batch_norm_legit_no_training": ("empty",),
    "_batch_norm_no_update": ("empty",), "_native_batch_norm_legit": ("empty",), "unfold_backward": ("scalar",),
    "native_group_norm_backward": ("gaps", "expanded", "offset", "dense"),
    "adaptive_max_pool3d_backward": ("expanded", "empty", "gaps"), "adaptive_max_pool2d_backward": ("expanded", "empty"),
    "fractional_max_pool2d_backward": ("gaps", "expanded"), "fractional_max_pool3d_backward": ("gaps", "expanded"),
    "max_unpool2d": ("empty",), "max_unpool3d": ("empty",),
    # the spectrum keeps its dtype until a wider window widens it, and narrow sums of windows have no defined order
    "istft": (F64, F16, BF16),
    "affine_grid_generator": INTEGERS, "_trilinear": (*INTEGERS, "empty"),
    **{f"special_bessel_{name}": (F64,) for name in ("j0", "j1", "y0", "y1")},
    "svd": (*DTYPES, "dense", "gaps", "offset", "expanded", "empty", "scalar"),
    "fft_r2c": (*INTEGERS, F16, BF16),
    # assumes dense offsets, unlike _embedding_bag
    "_embedding_bag_forward_only": ("gaps",),
    # the sum of the lengths exceeds the data
    "segment_reduce": ("expanded",), "_segment_reduce_backward": ("expanded",),
    "bessel_j0": (F64,), "bessel_j1": (F64,),
    # the storage offset is relative to self in PyTorch's traces, to the storage in its kernels
    "as_strided_scatter": ("offset",),
    # returns self if it is on the device already
    "device_put": ("gaps", "expanded"),
    "rrelu_with_noise_backward": INTEGERS, "_euclidean_dist": (F16, BF16, "expanded"),
    **{name: (*INTEGERS, F16, BF16, "empty", "dense", "gaps", "offset", "expanded", "scalar")
       for name in ("_weight_norm_interface", "_weight_norm_interface_backward")},
    # offsets are integers
    "_low_memory_max_pool2d_offsets_to_indices": (F32, F64, F16, BF16, B8),
    # three equal numbers: only Welford's algorithm gives their exact mean
    "var": ("expanded",),
    # for complex numbers the mask would be complex too
    "_unsafe_masked_index": (*INTEGERS, F16, BF16), "_unsafe_masked_index_put_accumulate": (*INTEGERS, F16, BF16),
    # divides by an empty tensor
    "_chunk_cat": ("empty", "scalar"),
    # the identity, although the sizes differ
    "pixel_unshuffle": ("empty",),
    # equal rows: only rounding errors remain
    "_cdist_backward": ("expanded",),
    # byte images are not supported yet
    **{name: (U8,) for name in (
        "upsample_nearest1d", "upsample_nearest2d", "upsample_nearest3d", "_upsample_nearest_exact1d",
        "_upsample_nearest_exact2d", "_upsample_nearest_exact3d", "upsample_linear1d", "upsample_bilinear2d",
        "upsample_trilinear3d", "upsample_bicubic2d", "_upsample_bilinear2d_aa", "_upsample_bicubic2d_aa")},
}


def tensors_of(v):
    if isinstance(v, dict):
        v = list(v.values())
    return [x for x in flatten([v] if isinstance(v, torch.Tensor) else v) if isinstance(x, torch.Tensor)]


def changed(v, change):
    if isinstance(v, (list, tuple)):
        return [changed(x, change) for x in v]
    if isinstance(v, dict):
        return {k: changed(x, change) for k, x in v.items()}
    return change(v)


def to_dtype(old, new):
    def change(v):
        if isinstance(v, torch.Tensor):
            return v.to(new) if v.dtype == old else v
        return new if v is old else v
    return change


def kind_of(v):
    if v.numel() == 0:
        return "empty"
    if v.dim() == 0:
        return "scalar"
    if 0 in v.stride():
        return "expanded"
    if v.is_contiguous():
        return "offset" if v.storage_offset() else "contiguous"
    return "dense" if v.untyped_storage().nbytes() == v.numel() * v.element_size() else "gaps"


def to_kind(kind):
    def change(v):
        if not isinstance(v, torch.Tensor):
            return v
        if kind == "empty":
            return v[:0] if v.dim() else v
        if kind == "scalar":
            return v.flatten()[0].clone() if v.numel() else v
        if v.dim() == 0 or v.numel() == 0:
            return v
        if kind == "offset":
            return torch.cat([v.flatten()[:2], v.flatten()])[-v.numel():].view(v.shape)
        if kind == "expanded":
            return v[:1].clone().expand(v.shape)
        if kind == "dense":
            return v.clone(memory_format=torch.contiguous_format).permute(
                *range(v.dim())[::-1]).contiguous().permute(*range(v.dim())[::-1])
        wide = torch.zeros((*v.shape[:-1], 2 * v.shape[-1]), dtype=v.dtype)
        wide[..., ::2] = v
        return wide[..., ::2]
    return change


def rounded_as_float64(op, args, kwargs, dtype, results):
    """16-bit results, or those where PyTorch's kernel sums in 16 bits, are its rounded float64 results."""
    wide = op(*changed(list(args), to_dtype(dtype, F64)), **changed(kwargs, to_dtype(dtype, F64)))
    for r, w in zip(flatten(results), flatten(wide)):
        if isinstance(r, torch.Tensor) and r.dtype == dtype and w.dtype == F64 and r.isfinite().all():
            error = (r.double() - w).norm() / w.norm().clamp(min=1e-30)
            yield r.copy_(w) if error > 4 * UNIT[dtype] else r
        else:
            yield r


def variant(op, args, kwargs, dtype):
    lines = call_lines(op, args, kwargs)
    try:
        result = op(*args, **kwargs)
        results = flatten([] if result is None else result)
        if dtype in UNIT:
            results = list(rounded_as_float64(op, args, kwargs, dtype, results))
    except (RuntimeError, IndexError, NotImplementedError, ValueError, TypeError, AssertionError):
        return None
    return "\n".join(lines + [value_line("r", r) for r in results])


def first_of(op, seen, change, dtype):
    """Returns the variant of the first call that PyTorch does not refuse."""
    for args, kwargs in seen[:6]:
        made = variant(op, changed(list(args), change), changed(kwargs, change), dtype)
        if made is not None:
            return [made]
    return []


def variants(op, seen):
    """Records cases of @op in each dtype and each layout missing in @seen."""
    name, tags = op._schema.name.split("::")[1], [str(tag) for tag in op.tags]
    if name in COMPLETE or op._schema.is_mutable or any("nondeterministic" in tag for tag in tags):
        return []
    main = next((v.dtype for a, k in seen for v in tensors_of(a) if v.dtype in DTYPES), None)
    have = {v.dtype for a, k in seen for v in tensors_of(a)[:1]}
    kinds = {kind_of(v) for a, k in seen for v in tensors_of(a)}
    skipped = SKIPPED.get(name, ())
    cases = []
    for dtype in DTYPES:
        if dtype not in have and dtype not in skipped:
            cases += first_of(op, seen, to_dtype(main, dtype), dtype)
    for kind in ("dense", "gaps", "offset", "expanded", "empty", "scalar"):
        if kind not in kinds and kind not in skipped:
            cases += first_of(op, seen, to_kind(kind), None)
    return cases
