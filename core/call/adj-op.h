/* SPDX-License-Identifier: MIT */
#pragma once

#include "call/adj-band.h"
#include "call/adj-schema.h"
#include "ir/adj-thread-state.h"

G_BEGIN_DECLS

typedef struct _AdjContext AdjContext;
typedef struct _AdjOpCall AdjOpCall;

typedef enum
{
  ADJ_OP_CORE = 1 << 0,    /* tagged core by PyTorch */
  ADJ_OP_INPLACE = 1 << 1, /* has the in-place variant `op_`, derived from this record */
  ADJ_OP_OUT = 1 << 2,  /* has an out= variant, derived where there is one result and no device */
  ADJ_OP_COPY = 1 << 3, /* has the `op_copy` variant (view then contiguous clone), derived */
  ADJ_OP_RANDOM = 1 << 4,
  ADJ_OP_EFFECT = 1 << 5,     /* has a side effect: never dropped, merged or moved */
  ADJ_OP_TOKEN = 1 << 13,     /* the effect is ordered by a token in functionalized graphs */
  ADJ_OP_UNORDERED = 1 << 12, /* the effect stops the run or states a fact: it needs no order, and
                                 decompositions may introduce it */
  ADJ_OP_NO_COMPARE = 1 << 6, /* result is uninitialised: its values are never compared */
  ADJ_OP_COMMUTES = 1 << 7,
  ADJ_OP_NO_GRADIENT = 1 << 8, /* floating results that never require a gradient (detach) */
  ADJ_OP_NO_DERIVATIVE =
      1 << 15,              /* differentiable, but without a gradient rule, in PyTorch either */
  ADJ_OP_INDICES = 1 << 16, /* its integers are indices along `dim` of self: with equal elements any
                               of them is right */
  ADJ_OP_CANCELS =
      1 << 17, /* PyTorch's algorithm subtracts numbers much larger than their difference */
  ADJ_OP_ADDS_NARROW =
      1 << 18, /* PyTorch accumulates 16-bit numbers in their own type; for operators that are no
                  sums, in results smaller than the first tensor */
  ADJ_OP_ADDS_IN_TURN = 1 << 26, /* PyTorch adds the terms in their own type, one after another */
  ADJ_OP_ADDS_PIXELS_IN_TURN =
      1 << 27, /* and so the sums inside it if the channels of its first tensor are last */
  ADJ_OP_IN_STEPS = 1 << 19, /* PyTorch rounds after each step of its decomposition, 16-bit numbers
                                to float32 before the last */
  ADJ_OP_JUMPS = 1 << 20,    /* its result is discontinuous where argument `grid` is at an edge */
  ADJ_OP_ROOT = 1 << 21,   /* a root of sums of powers, which underflow before the result does: the
                              square root, or the root given by `p` or `ord` */
  ADJ_OP_ON_CPU = 1 << 22, /* its kernel loops over host memory itself */
  ADJ_OP_BY_PARTS = 1 << 23, /* its kernel runs separately on real and imaginary parts */
  ADJ_OP_GAUGE = 1 << 25, /* matrix results hold vectors known up to a factor of absolute value 1:
                             columns, in the third result rows */
  ADJ_OP_CONJUGATES = 1 << 24, /* accepts lazy conjugates; other operators get a resolved copy */
  ADJ_OP_METADATA = 1 << 9, /* changes the metadata of self (t_, set_), not its elements; its kernel
                               touches no bytes and runs on fake tensors too */
  ADJ_OP_FILLS = 1 << 14,   /* every element gets the same value: elements may overlap */
  ADJ_OP_UNDEFINED = 1 << 10, /* None is accepted for any Tensor argument: PyTorch passes undefined
                                 tensors to backward operators */
  /* Decomposed by its `.decompose` rule at the call, above every mode: never recorded. */
  ADJ_OP_COMPOSITE = 1 << 11,
} AdjOpFlags;

/* The tables of decompositions that name an operator (trace/adj-decompose.h). */
typedef enum
{
  ADJ_TABLE_CORE = 1 << 0,
  ADJ_TABLE_INDUCTOR = 1 << 1,
  ADJ_TABLE_BOTH = ADJ_TABLE_CORE | ADJ_TABLE_INDUCTOR,
  ADJ_TABLE_TRACED = 1 << 2, /* a composite with a kernel: decomposed in every trace */
} AdjTables;

/* How the dtypes of operands give the compute and the result dtype (ops/SPEC.md §3). */
typedef enum
{
  ADJ_PROMOTE_NONE,        /* decided by the meta function */
  ADJ_PROMOTE_DEFAULT,     /* of all operands */
  ADJ_PROMOTE_FLOAT,       /* as DEFAULT, but integers and bool become the default float */
  ADJ_PROMOTE_FLOAT_ONLY,  /* integers are an error */
  ADJ_PROMOTE_BOOL,        /* compute in the promoted dtype, result bool */
  ADJ_PROMOTE_FIRST,       /* the dtype of the first tensor */
  ADJ_PROMOTE_BOOL_TO_INT, /* DEFAULT, but bool becomes int64 (pow) */
  ADJ_PROMOTE_REAL,        /* FIRST, but complex becomes the float that it is made of (abs) */
  ADJ_PROMOTE_FLOAT_REAL,  /* as REAL, but integers and bool become the default float */
} AdjPromote;

/* What autocast does to the floating arguments of a call other than float64. */
typedef enum
{
  ADJ_CAST_NONE,
  ADJ_CAST_LOWER,   /* to the dtype that autocast is set to */
  ADJ_CAST_F32,     /* to float32 */
  ADJ_CAST_RESULT,  /* no cast; `dtype` defaults to float32 */
  ADJ_CAST_WIDEST,  /* to the widest among them */
  ADJ_CAST_REFUSED, /* the call is an error */
} AdjCast;

/* One operator. Its schema string alone gives name, overload, arguments, defaults, aliasing and
 * returns. Records are in core/ops/<family>.inc. */
struct _AdjOp
{
  const char *schema;
  const char *help; /* one line: "a + alpha·b, broadcast" */

  const char *out; /* overload of the out= variant if it is neither "out" nor "<overload>_out" */

  /* Schema of the in-place variant if it cannot be derived from this one. */
  const char *inplace;
  const char *prim; /* schema of the operator of prims that computes the same, or NULL */

  const char *expr;         /* pointwise body over argument names, or NULL */
  const char *grad;         /* rules "self: mul.Tensor(g, other); other: …", or NULL */
  const char *inplace_grad; /* of the in-place variant, if it differs from `grad`; or NULL */
  const char *decompose;    /* rule over argument names, or NULL */
  const char *inverse; /* of a view, or NULL: `base` with `mutated` written to the view of these
                          arguments; `part` is the index of its result */

  /* Shapes, strides, dtypes and aliasing of the results.  NULL with expr: the pointwise rule. */
  gboolean (*meta) (AdjOpCall *call);
  /* (nullable): changes strides and dtypes of the call's results to those in PyTorch's traced
   * graphs, where its kernels give others. */
  void (*traced) (AdjOpCall *call);
  /* Computes every result that is not an alias: writes all elements, since the memory is not
   * initialised.  NULL with expr: the pointwise program. */
  gboolean (*kernel) (AdjOpCall *call);
  /* Number of floating-point operations; NULL: from expr, 0 for views. */
  double (*flops) (const AdjOpCall *call);
  /* Number of elements that are summed for one result element, for the band; NULL: 1. */
  double (*reduction) (const AdjOpCall *call);

  AdjOpFlags flags;
  AdjTables tables;
  AdjPromote promote;
  AdjBand band;
  AdjCast autocast[ADJ_N_AUTOCAST]; /* on the CPU, on CUDA; of variants unset */

  const AdjSchema *parsed; /* @schema; the table sets it, records leave it out */
};

/* One result of a call, inferred or computed. */
typedef struct
{
  AdjTensorMeta meta;
  gint alias_of;     /* index of the argument whose storage it shares; -1: fresh */
  gboolean is_none;  /* not a tensor: @plain is returned */
  AdjValue plain;    /* None, an undefined tensor (output_mask), or a size */
  AdjTensor *tensor; /* (owned) (nullable): the tensor that the kernel writes; set by the mode */
} AdjOpResult;

/* How kernels see complex arguments: not at all, so that they fail, or one part as a real tensor.
 */
typedef enum
{
  ADJ_PART_NONE,
  ADJ_PART_REAL,
  ADJ_PART_IMAGINARY,
} AdjPart;

/* One call of an operator: arguments in schema order, defaults filled in. */
struct _AdjOpCall
{
  AdjContext *cx;
  const AdjOp *op;
  const AdjSchema *schema;
  const AdjValue
      *args; /* (unowned) n_arguments of them; Tensor slots hold TENSOR, numbers or NONE */
  guint n_results;
  guint n_allocated;
  AdjOpResult *results;  /* (owned) */
  gboolean returns_list; /* Tensor[]: the results are its items */
  AdjPart part;          /* the part seen by the kernel that runs */
  /* (unowned) (nullable): the effect token that it takes, and the one that it returns. */
  AdjTensor *token, *new_token;
  /* (unowned) (nullable): the call that this one is a step of, which messages name. */
  const AdjOpCall *within;
};

/* The parsed schema of an operator of the table (ops/adj-op-table.h); never %NULL. */
ADJ_PUBLIC const AdjSchema *adj_op_get_schema (const AdjOp *op);

/* -- for modes, meta functions and kernels -- */

/* (transfer none): adds a result; valid until the next one is added. */
ADJ_PUBLIC AdjOpResult *adj_op_call_add (AdjOpCall *call, AdjDType dtype, const AdjShape *shape);
/* (transfer none): a view of argument @arg: its dtype and device. */
ADJ_PUBLIC AdjOpResult *adj_op_call_add_view (AdjOpCall *call, guint arg, const AdjShape *shape);
/* (transfer none): None, or a size, instead of a tensor. */
ADJ_PUBLIC AdjOpResult *adj_op_call_add_none (AdjOpCall *call);
ADJ_PUBLIC AdjOpResult *adj_op_call_add_size (AdjOpCall *call, AdjSize size);

/* Index of the argument of that name; a programmer error when there is none. */
ADJ_PUBLIC guint adj_op_call_find (const AdjOpCall *call, const char *name);

/* The device of the first tensor among the arguments; the CPU when there is none. */
ADJ_PUBLIC AdjDevice adj_op_call_device (const AdjOpCall *call);

/* The argument as the schema types it; on a mismatch they set the context's error and give a
 * neutral value, so that rules read as mathematics. */
ADJ_PUBLIC AdjTensor *adj_op_call_tensor (const AdjOpCall *call,
                                          guint arg); /* (transfer none); required */
ADJ_PUBLIC AdjTensor *adj_op_call_tensor_or_null (const AdjOpCall *call,
                                                  guint arg); /* (transfer none) (nullable) */
ADJ_PUBLIC const AdjTensorMeta *adj_op_call_meta (const AdjOpCall *call, guint arg);
ADJ_PUBLIC gint64 adj_op_call_int (const AdjOpCall *call, guint arg, gint64 if_none);
ADJ_PUBLIC double adj_op_call_double (const AdjOpCall *call, guint arg, double if_none);
ADJ_PUBLIC gboolean adj_op_call_bool (const AdjOpCall *call, guint arg);
ADJ_PUBLIC const char *adj_op_call_string (const AdjOpCall *call, guint arg, const char *if_none);
ADJ_PUBLIC AdjDType adj_op_call_dtype (const AdjOpCall *call, guint arg, AdjDType if_none);
ADJ_PUBLIC AdjSize adj_op_call_size (const AdjOpCall *call, guint arg, AdjSize if_none);
/* A list of sizes into @out (room for ADJ_MAX_RANK); a lone number is a list of one.  Returns n. */
ADJ_PUBLIC guint adj_op_call_sizes (const AdjOpCall *call, guint arg, AdjSize *out);
/* Dimensions as a bit mask, wrapped and checked against @rank; an empty or absent list is all. */
ADJ_PUBLIC guint32 adj_op_call_dims (const AdjOpCall *call, guint arg, guint rank);

/* Fails the call: sets the context's error with operator, shapes and place; returns %FALSE. */
ADJ_PUBLIC gboolean adj_op_call_fail (const AdjOpCall *call, const char *format, ...)
    G_GNUC_PRINTF (2, 3);
ADJ_PUBLIC gboolean adj_op_call_fail_as (const AdjOpCall *call,
                                         AdjError code,
                                         const char *format,
                                         ...) G_GNUC_PRINTF (3, 4);
/* @error: (transfer full) */
ADJ_PUBLIC gboolean adj_op_call_fail_with (const AdjOpCall *call, GError *error);

/* Runs the meta function: afterwards the call has results without tensors. */
ADJ_PUBLIC gboolean adj_op_call_infer (AdjOpCall *call);

G_END_DECLS
