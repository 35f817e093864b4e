/* SPDX-License-Identifier: MIT */
/* Random numbers without state (aot/SPEC.md §5): seed and offset are inputs of the graph, the new
 * offset is an output, and every draw is a function of them. */

#include "aot/rng-private.h"
#include "call/adj-mode.h"
#include "call/adj-op.h"
#include "ops/adj-op-id.h"
#include "ops/adj-ops.h"
#include "rules/adj-apply.h"
#include "rules/adj-rule.h"

/* -- where the draws of one direction are -- */

typedef struct
{
  AdjTensor *seed;     /* (owned) (nullable) */
  AdjTensor *base;     /* (owned) (nullable): the offset passed in */
  AdjTensor *relative; /* (owned) (nullable): sum of the draws since */
} Stream;

typedef struct
{
  AdjMode parent;
  Stream streams[2]; /* of the forward, of the backward */
  guint running;
} RngMode;

static AdjValue
relative_offset (const Stream *stream)
{
  return stream->relative != NULL ? ADJ_TENSOR (stream->relative) : ADJ_INT (0);
}

static gboolean
advance (AdjContext *cx, Stream *stream, AdjTensor *jump)
{
  AdjTensor *relative =
      stream->relative != NULL
          ? ADJ_APPLY (cx, ADJ_OP_add_Tensor, ADJ_TENSOR (stream->relative), ADJ_TENSOR (jump))
          : ADJ_APPLY (cx, ADJ_OP_add_Tensor, ADJ_TENSOR (jump), ADJ_INT (0));

  if (relative == NULL)
    return FALSE;
  adj_tensor_ref (relative);
  g_clear_pointer (&stream->relative, adj_tensor_unref);
  stream->relative = relative;
  return TRUE;
}

AdjTensor *
aot_rng_get_offset (AdjContext *cx, AdjMode *mode, guint direction)
{
  const Stream *stream = &((RngMode *) mode)->streams[direction];
  AdjTensor *offset;

  if (stream->relative == NULL)
    return stream->base;
  offset = ADJ_APPLY (cx, ADJ_OP_add_Tensor, ADJ_TENSOR (stream->base), relative_offset (stream));
  if (offset != NULL)
    offset = ADJ_APPLY (cx, ADJ_OP_add_Tensor, ADJ_TENSOR (offset), ADJ_INT (3));
  if (offset != NULL)
    offset = ADJ_APPLY (cx, ADJ_OP_floor_divide, ADJ_TENSOR (offset), ADJ_INT (4));
  if (offset != NULL)
    offset = ADJ_APPLY (cx, ADJ_OP_mul_Tensor, ADJ_TENSOR (offset), ADJ_INT (4));
  return offset;
}

/* -- draws -- */

/* Uniform numbers, borrowed from the scope. */
static AdjTensor *
draw (RngMode *mode,
      AdjContext *cx,
      const AdjSize *sizes,
      guint rank,
      AdjDType dtype,
      AdjDevice device)
{
  Stream *stream = &mode->streams[mode->running];
  g_autoptr (AdjArena) arena = adj_arena_new ();
  AdjTensor *offset =
      ADJ_APPLY (cx, ADJ_OP_add_Tensor, ADJ_TENSOR (stream->base), relative_offset (stream));
  AdjValue args[6], result;

  if (offset == NULL)
    return NULL;
  args[0] = adj_rule_list_sizes (arena, sizes, rank);
  args[1] = ADJ_TENSOR (stream->seed);
  args[2] = ADJ_TENSOR (offset);
  args[3] = ADJ_NONE;
  args[4] = (AdjValue){ .kind = ADJ_VALUE_DEVICE, .device = device };
  args[5] = ADJ_DTYPE (dtype);
  if (!adj_call (cx, adj_op (ADJ_OP_rngprims_philox_rand),
                 &(AdjValue){ .kind = ADJ_VALUE_TUPLE, .n = 6, .items = args }, NULL, &result) ||
      !advance (cx, stream, result.items[1].tensor))
    return NULL;
  return result.items[0].tensor;
}

static AdjTensor *
draw_like (RngMode *mode, AdjContext *cx, const AdjTensor *like, AdjDType dtype)
{
  const AdjTensorMeta *meta = adj_tensor_get_meta (like);

  return draw (mode, cx, meta->shape.size, meta->shape.rank, dtype, meta->device);
}

static gboolean
give (AdjOpCall *call, AdjTensor *tensor)
{
  AdjOpResult *result;

  if (tensor == NULL)
    return FALSE;
  result = adj_op_call_add (call, adj_tensor_get_meta (tensor)->dtype,
                            &adj_tensor_get_meta (tensor)->shape);
  result->tensor = adj_tensor_ref (tensor);
  return TRUE;
}

static gboolean
do_rand (RngMode *mode, AdjOpCall *call)
{
  AdjSize sizes[ADJ_MAX_RANK];
  guint rank = adj_op_call_sizes (call, 0, sizes);
  const AdjValue *device = &call->args[adj_op_call_find (call, "device")];
  AdjDType dtype = adj_op_call_dtype (call, adj_op_call_find (call, "dtype"),
                                      adj_context_get_default_dtype (call->cx));

  return give (call, draw (mode, call->cx, sizes, rank, dtype,
                           device->kind == ADJ_VALUE_DEVICE ? device->device : ADJ_CPU));
}

static gboolean
do_rand_like (RngMode *mode, AdjOpCall *call)
{
  const AdjTensorMeta *meta = adj_tensor_get_meta (adj_op_call_tensor (call, 0));
  const AdjValue *device = &call->args[adj_op_call_find (call, "device")];
  AdjDType dtype = adj_op_call_dtype (call, adj_op_call_find (call, "dtype"), meta->dtype);

  return give (call, draw (mode, call->cx, meta->shape.size, meta->shape.rank, dtype,
                           device->kind == ADJ_VALUE_DEVICE ? device->device : meta->device));
}

/* A mask that is the same everywhere: @op is zeros_like or ones_like. */
static AdjTensor *
make_mask (AdjContext *cx, AdjOpId op, AdjTensor *like)
{
  const AdjValue args[6] = { ADJ_TENSOR (like), ADJ_DTYPE (ADJ_DTYPE_BOOL) };
  AdjValue result;

  return adj_call_bound (cx, adj_op (op), args, &result) ? result.tensor : NULL;
}

/* out = (u > p) · x · 1 / (1 − p), and the mask (aot/SPEC.md §5.2).  If nothing is drawn, gives x,
 * as PyTorch does; also without `train`, although PyTorch's kernels draw then. */
static gboolean
do_native_dropout (RngMode *mode, AdjOpCall *call)
{
  AdjContext *cx = call->cx;
  AdjTensor *x = adj_op_call_tensor (call, 0);
  double p = adj_op_call_double (call, 1, 0);
  gboolean train = call->args[2].kind == ADJ_VALUE_NONE || adj_op_call_bool (call, 2);
  AdjTensor *stays, *out;

  if (!train || p <= 0)
    return give (call, ADJ_APPLY (cx, ADJ_OP_clone, ADJ_TENSOR (x))) &&
           give (call, make_mask (cx, ADJ_OP_ones_like, x));
  if (p >= 1)
    return give (call, ADJ_APPLY (cx, ADJ_OP_zeros_like, ADJ_TENSOR (x))) &&
           give (call, make_mask (cx, ADJ_OP_zeros_like, x));
  stays = draw_like (mode, cx, x, adj_tensor_get_meta (x)->dtype);
  stays =
      stays != NULL ? ADJ_APPLY (cx, ADJ_OP_gt_Scalar, ADJ_TENSOR (stays), ADJ_FLOAT (p)) : NULL;
  out =
      stays != NULL ? ADJ_APPLY (cx, ADJ_OP_mul_Tensor, ADJ_TENSOR (stays), ADJ_TENSOR (x)) : NULL;
  out = out != NULL ? ADJ_APPLY (cx, ADJ_OP_mul_Tensor, ADJ_TENSOR (out), ADJ_FLOAT (1 / (1 - p)))
                    : NULL;
  return give (call, out) && give (call, stays);
}

/* (u < p) with u in float32 for any dtype of self; converted to that dtype, where PyTorch 2.6
 * leaves bool. */
static gboolean
do_bernoulli (RngMode *mode, AdjOpCall *call)
{
  AdjContext *cx = call->cx;
  AdjTensor *self = adj_op_call_tensor (call, 0);
  AdjTensor *out = draw_like (mode, cx, self, ADJ_DTYPE_F32);

  if (out != NULL)
    out = ADJ_APPLY (cx, ADJ_OP_lt_Scalar, ADJ_TENSOR (out), call->args[1]);
  if (out != NULL)
    out = ADJ_APPLY (cx, ADJ_OP_prims_convert_element_type, ADJ_TENSOR (out),
                     ADJ_DTYPE (adj_tensor_get_meta (self)->dtype));
  return give (call, out);
}

/* -- the mode -- */

/* The operators that PyTorch functionalizes (aot/SPEC.md §5.2). Normal numbers, integers,
 * permutations, uniform_() and tensors of probabilities still draw from the generator. */
static const struct
{
  AdjOpId op;
  gboolean (*run) (RngMode *mode, AdjOpCall *call);
} draws[] = {
  { ADJ_OP_rand, do_rand },
  { ADJ_OP_rand_like, do_rand_like },
  { ADJ_OP_native_dropout, do_native_dropout },
  { ADJ_OP_bernoulli_p, do_bernoulli },
};

static gboolean
rng_call (AdjMode *mode, AdjOpCall *call)
{
  AdjMode *entry;
  gboolean done;
  guint i = 0;

  if ((call->op->flags & ADJ_OP_RANDOM) == 0)
    return adj_mode_call_below (mode, call);
  while (i < G_N_ELEMENTS (draws) && call->op != adj_op (draws[i].op))
    i++;
  if (i == G_N_ELEMENTS (draws) ||
      ((RngMode *) mode)->streams[((RngMode *) mode)->running].base == NULL)
    return adj_mode_call_below (mode, call);
  entry = adj_context_set_entry (call->cx, mode->below);
  adj_scope_begin (call->cx);
  done = draws[i].run ((RngMode *) mode, call);
  adj_scope_end (call->cx);
  adj_context_set_entry (call->cx, entry);
  return done;
}

static void
rng_finalize (AdjMode *mode)
{
  for (guint i = 0; i < 2; i++)
    {
      Stream *stream = &((RngMode *) mode)->streams[i];

      g_clear_pointer (&stream->seed, adj_tensor_unref);
      g_clear_pointer (&stream->base, adj_tensor_unref);
      g_clear_pointer (&stream->relative, adj_tensor_unref);
    }
}

static const AdjModeClass rng_class = { .name = "rng", .call = rng_call, .finalize = rng_finalize };

AdjMode *
aot_rng_mode_new (AdjTensor *const seeds[2], AdjTensor *const offsets[2])
{
  RngMode *mode = g_new0 (RngMode, 1);

  mode->parent.klass = &rng_class;
  for (guint i = 0; i < 2; i++)
    {
      mode->streams[i].seed = adj_keep (seeds[i]);
      mode->streams[i].base = adj_keep (offsets[i]);
    }
  return &mode->parent;
}

void
aot_rng_begin_backward (AdjContext *cx)
{
  for (AdjMode *mode = adj_context_get_mode (cx); mode != NULL; mode = mode->below)
    if (mode->klass == &rng_class)
      ((RngMode *) mode)->running = 1;
}

/* -- compile time: seeds and offsets are the last arguments (aot/SPEC.md §5.1) -- */

/* A copy of @list with @tensor at its end; clears @list. */
static void
append (AdjValue *list, AdjTensor *tensor)
{
  g_autofree AdjValue *items = g_new0 (AdjValue, list->n + 1);

  for (guint i = 0; i < list->n; i++)
    items[i] = adj_value_copy (&list->items[i]);
  items[list->n] = ADJ_TENSOR (adj_keep (tensor));
  *list = adj_value_new_items (list->kind, items, list->n + 1);
}

static gboolean
append_offsets (AdjContext *cx, AdjMode *mode, gboolean is_joint, AdjValue *result)
{
  for (guint i = 0; i < (is_joint ? 2 : 1); i++)
    {
      AdjTensor *offset = aot_rng_get_offset (cx, mode, i);
      AdjValue *list = is_joint ? &result->items[i] : result;
      AdjValue old = *list;

      if (offset == NULL)
        return FALSE;
      append (list, offset);
      adj_value_clear (&old);
    }
  return TRUE;
}

static gboolean
random_call (
    AdjFunction *function, AdjContext *cx, const AdjValue *args, guint n_args, AdjValue *result)
{
  gboolean is_joint = args[0].kind == ADJ_VALUE_TUPLE;
  guint n = n_args - (is_joint ? 4 : 2);
  AdjTensor *seeds[2] = { args[n].tensor, is_joint ? args[n + 2].tensor : NULL };
  AdjTensor *offsets[2] = { args[n + 1].tensor, is_joint ? args[n + 3].tensor : NULL };
  AdjMode *mode = aot_rng_mode_new (seeds, offsets);
  gboolean done;

  adj_context_push_mode (cx, mode);
  done = adj_function_call (AOT_INNER (function), cx, args, n, result) &&
         append_offsets (cx, mode, is_joint, result);
  adj_context_pop_mode (cx);
  return done;
}

static const AdjFunctionClass random_class = {
  .name = "functional random numbers",
  .call = random_call,
  .finalize = aot_function_finalize,
};

/* -- run time (aot/SPEC.md §5.3) -- */

static AdjTensor *
make_scalar (AdjContext *cx, guint64 value)
{
  AdjTensorMeta meta = { .dtype = ADJ_DTYPE_I64, .device = ADJ_CPU, .has_strides = TRUE };
  AdjTensor *tensor = adj_scope_add (cx, adj_tensor_new_empty (&meta, NULL, FALSE));

  *(guint64 *) adj_storage_write (adj_tensor_get_storage (tensor)) = value;
  return tensor;
}

static gboolean
keep_offset (AdjContext *cx, const AdjValue *outs, guint index)
{
  AdjPhilox state = adj_context_get_philox (cx);
  g_autoptr (AdjTensorData) data = NULL;

  if (index >= outs->n || outs->items[index].kind != ADJ_VALUE_TENSOR)
    {
      adj_context_fail (cx, ADJ_ERROR, ADJ_ERROR_VERIFY,
                        "the compiled graph gave no offset of the random numbers");
      return FALSE;
    }
  data = adj_tensor_snapshot (outs->items[index].tensor);
  if (data == NULL)
    return TRUE;
  state.offset = *(const guint64 *) g_bytes_get_data (adj_tensor_data_get_bytes (data), NULL);
  adj_context_set_philox (cx, state);
  return TRUE;
}

typedef struct
{
  AotStage parent;
  guint offset_at; /* index of the offset among the forward outputs */
} Rng;

static gboolean
call_with_state (
    AdjFunction *inner, AdjContext *cx, const AdjValue *args, guint n_args, AdjValue *result)
{
  g_autofree AdjValue *all = g_new0 (AdjValue, n_args + 2);
  AdjPhilox state = adj_context_get_philox (cx);

  for (guint i = 0; i < n_args; i++)
    all[i] = args[i];
  all[n_args] = ADJ_TENSOR (make_scalar (cx, state.seed));
  all[n_args + 1] = ADJ_TENSOR (make_scalar (cx, state.offset));
  return adj_function_call (inner, cx, all, n_args + 2, result);
}

static gboolean
drawing_call (
    AdjFunction *function, AdjContext *cx, const AdjValue *args, guint n_args, AdjValue *result)
{
  return call_with_state (AOT_INNER (function), cx, args, n_args, result) &&
         keep_offset (cx, result, AOT_STAGE (Rng, function)->offset_at);
}

static const AdjFunctionClass drawing_class = {
  .name = "with seed and offset",
  .call = drawing_call,
  .finalize = aot_function_finalize,
};

static AdjFunction *
rng_wrap (AotStage *stage, AdjFunction *inner)
{
  return aot_function_new (&drawing_class, inner, stage);
}

static gboolean
drawing_backward_call (
    AdjFunction *function, AdjContext *cx, const AdjValue *args, guint n_args, AdjValue *result)
{
  return call_with_state (AOT_INNER (function), cx, args, n_args, result) &&
         keep_offset (cx, result, result->n - 1);
}

static const AdjFunctionClass drawing_backward_class = {
  .name = "backward with seed and offset",
  .call = drawing_backward_call,
  .finalize = aot_function_finalize,
};

AdjFunction *
aot_rng_wrap_backward (AdjFunction *backward)
{
  return aot_function_new (&drawing_backward_class, backward, NULL);
}

static const AotStageClass stage_class = { .name = "rng", .wrap = rng_wrap };

gboolean
aot_functionalize_rng (AotProgram *program, GError **error)
{
  Rng *stage;

  if (!program->options->functionalize_rng)
    return TRUE;
  if (program->options->export_joint)
    return aot_fail (error, AOT_ERROR_EXPORT_RNG, AOT_FUNCTION, NULL);
  stage = aot_stage_new (&stage_class, sizeof *stage);
  stage->offset_at = program->metadata->n_tokens + program->metadata->n_forward_returns;
  aot_program_set_function (program, aot_function_new (&random_class, program->function, stage));
  g_string_append (program->note, "seed and offset are inputs, the new offset is an output");
  aot_program_push (program, &stage->parent);
  return TRUE;
}
