/* SPDX-License-Identifier: MIT */
/* The steps of torch.func that Dynamo leaves in graphs: levels begin and end, tensors are wrapped
 * and unwrapped, and gradients are taken. */

#include "autograd/transform-private.h"
#include "call/adj-op.h"
#include "ops/adj-op-id.h"
#include "rules/adj-apply.h"
#include "rules/adj-rule.h"

static gboolean
fail (AdjContext *cx, const char *text)
{
  adj_context_fail (cx, ADJ_ERROR, ADJ_ERROR_UNSUPPORTED, "torch.func: %s", text);
  return FALSE;
}

static gboolean
give (AdjTensor *tensor, AdjValue *result)
{
  *result = ADJ_TENSOR (adj_keep (tensor));
  return tensor != NULL;
}

/* -- levels -- */

static gboolean
find_randomness (AdjContext *cx, const AdjValue *value, Randomness *out)
{
  static const char *const names[] = {
    [RANDOMNESS_ERROR] = "error", [RANDOMNESS_SAME] = "same", [RANDOMNESS_DIFFERENT] = "different"
  };

  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    if (value->kind == ADJ_VALUE_STRING && g_str_equal (value->text, names[i]))
      {
        *out = (Randomness) i;
        return TRUE;
      }
  return fail (cx, "randomness of a batch is 'error', 'same' or 'different'");
}

static gboolean
begin_batch (AdjContext *cx, const AdjValue *args, guint n_args, AdjValue *result)
{
  Randomness randomness = RANDOMNESS_ERROR;
  AdjSize size;
  guint depth;

  if (n_args < 1 || !adj_value_get_size (&args[0], &size))
    return fail (cx, "a batch needs a size");
  if (n_args > 1 && !find_randomness (cx, &args[1], &randomness))
    return FALSE;
  depth = level_push (cx, LEVEL_BATCH, size);
  if (depth == 0)
    return FALSE;
  level_find (cx, depth)->randomness = randomness;
  *result = ADJ_INT (depth);
  return TRUE;
}

static gboolean
begin_gradients (AdjContext *cx, const AdjValue *args, guint n_args, AdjValue *result)
{
  *result = ADJ_INT (level_push (cx, LEVEL_GRADIENTS, ADJ_SIZE (0)));
  return TRUE;
}

static gboolean
begin_forward (AdjContext *cx, const AdjValue *args, guint n_args, AdjValue *result)
{
  *result = ADJ_INT (level_push (cx, LEVEL_FORWARD, ADJ_SIZE (0)));
  return TRUE;
}

static gboolean
end (AdjContext *cx, const AdjValue *args, guint n_args, AdjValue *result)
{
  *result = ADJ_NONE;
  return level_pop (cx) || fail (cx, "no level is left to end");
}

/* The level of kind @kind that argument @at names; %NULL with the context in error. */
static const Level *
take_level (AdjContext *cx, const AdjValue *args, guint n_args, guint at, LevelKind kind)
{
  const Level *level = n_args > at && args[at].kind == ADJ_VALUE_INT
                           ? level_find (cx, (guint) args[at].integer)
                           : NULL;

  if (level != NULL && level->kind == kind)
    return level;
  fail (cx, "a level is named that has not begun");
  return NULL;
}

/* -- tensors -- */

static gboolean
takes_tensor (AdjContext *cx, const AdjValue *args, guint n_args, guint n_wanted)
{
  return (n_args >= n_wanted && args[0].kind == ADJ_VALUE_TENSOR) ||
         fail (cx, "a tensor is missing");
}

/* @value, a dimension of a tensor of @rank, made non-negative. */
static gboolean
take_dim (AdjContext *cx, const AdjValue *value, guint rank, guint *out)
{
  gint64 dim = value->kind == ADJ_VALUE_INT ? value->integer : rank;

  if (dim < 0)
    dim += rank;
  if (dim < 0 || dim >= rank)
    return fail (cx, "a dimension of a batch is out of range");
  *out = (guint) dim;
  return TRUE;
}

static gboolean
add_dim (AdjContext *cx, const AdjValue *args, guint n_args, AdjValue *result)
{
  const Level *level;
  guint dim;

  if (!takes_tensor (cx, args, n_args, 3))
    return FALSE;
  level = take_level (cx, args, n_args, 2, LEVEL_BATCH);
  return level != NULL && take_dim (cx, &args[1], adj_tensor_get_rank (args[0].tensor), &dim) &&
         give (level_wrap (cx, level, level_peel (&level->mode, args[0].tensor), dim), result);
}

/* (tensor, level, size, dim) */
static gboolean
remove_dim (AdjContext *cx, const AdjValue *args, guint n_args, AdjValue *result)
{
  const Level *level;
  AdjTensor *tensor;
  AdjMode *entry;
  gboolean done;
  guint to;

  if (!takes_tensor (cx, args, n_args, 4))
    return FALSE;
  level = take_level (cx, args, n_args, 1, LEVEL_BATCH);
  if (level == NULL)
    return FALSE;
  tensor = level_peel (&level->mode, args[0].tensor);
  if (!take_dim (cx, &args[3], adj_tensor_get_rank (tensor) + 1, &to))
    return FALSE;
  entry = adj_context_set_entry (cx, level->mode.below);
  if (level_unwrap (level, tensor, NULL) != NULL)
    tensor = level_bring_out (cx, level, tensor, to);
  else
    tensor = level_spread (cx, level, tensor, to, adj_rule_has_formula (cx, "batches_unsqueezed"));
  done = give (tensor, result);
  adj_context_set_entry (cx, entry);
  return done;
}

/* A tensor without a tangent is not wrapped at a level of forward mode. */
static gboolean
wrap (AdjContext *cx, const AdjValue *args, guint n_args, AdjValue *result)
{
  const Level *level;

  if (!takes_tensor (cx, args, n_args, 2))
    return FALSE;
  level = args[1].kind == ADJ_VALUE_INT ? level_find (cx, (guint) args[1].integer) : NULL;
  if (level != NULL && level->kind == LEVEL_FORWARD)
    return give (args[0].tensor, result);
  level = take_level (cx, args, n_args, 1, LEVEL_GRADIENTS);
  return level != NULL &&
         give (level_wrap (cx, level, level_peel (&level->mode, args[0].tensor), 0), result);
}

static gboolean
unwrap (AdjContext *cx, const AdjValue *args, guint n_args, AdjValue *result)
{
  return takes_tensor (cx, args, n_args, 2) && give (level_untrack (args[0].tensor), result);
}

static gboolean
track (AdjContext *cx, const AdjValue *args, guint n_args, AdjValue *result)
{
  return takes_tensor (cx, args, n_args, 1) &&
         adj_tensor_set_requires_grad (cx, args[0].tensor, TRUE) && give (args[0].tensor, result);
}

/* -- gradients -- */

typedef struct
{
  GPtrArray *outputs; /* of AdjTensor, unowned: outputs that require a gradient */
  GPtrArray *grads;   /* of AdjTensor, unowned, as many */
} Roots;

/* The default gradient of an output, as PyTorch makes it: with all arguments of ones_like given, as
 * the levels pass them on. */
static AdjTensor *
ones_like (AdjContext *cx, AdjTensor *output)
{
  AdjValue format = { .kind = ADJ_VALUE_MEMORY_FORMAT, .format = ADJ_MEMORY_FORMAT_PRESERVE };
  const AdjValue args[] = { ADJ_TENSOR (output), ADJ_NONE, ADJ_NONE, ADJ_NONE,
                            ADJ_BOOL (FALSE),    format };
  AdjValue made;

  return adj_call_bound (cx, adj_op (ADJ_OP_ones_like), args, &made) ? made.tensor : NULL;
}

static void
add_outputs (AdjContext *cx, Roots *roots, const AdjValue *outputs, const AdjValue *grads)
{
  for (guint i = 0; i < outputs->n; i++)
    {
      AdjTensor *output = outputs->items[i].tensor;

      if (outputs->items[i].kind != ADJ_VALUE_TENSOR || !adj_tensor_get_requires_grad (output))
        continue;
      g_ptr_array_add (roots->outputs, output);
      g_ptr_array_add (roots->grads,
                       grads != NULL && i < grads->n && grads->items[i].kind == ADJ_VALUE_TENSOR
                           ? grads->items[i].tensor
                           : ones_like (cx, output));
    }
}

static gboolean
take_gradients (AdjContext *cx, const Roots *roots, AdjTensor **inputs, guint n, AdjTensor **found)
{
  const AdjGradRoots all = {
    .tensors = (AdjTensor *const *) roots->outputs->pdata,
    .grads = (AdjTensor *const *) roots->grads->pdata,
    .n = roots->outputs->len,
  };

  if (adj_context_has_error (cx))
    return FALSE;
  if (all.n > 0 &&
      !adj_grad (cx, &all, inputs, n,
                 ADJ_BACKWARD_CREATE_GRAPH | ADJ_BACKWARD_ALLOW_UNUSED | ADJ_BACKWARD_OF_PROGRAM,
                 found))
    return FALSE;
  for (guint i = 0; i < n; i++)
    if (found[i] == NULL)
      found[i] = ADJ_APPLY (cx, ADJ_OP_zeros_like, ADJ_TENSOR (inputs[i]));
  return !adj_context_has_error (cx);
}

/* (outputs, inputs, their gradients or None) */
static gboolean
differentiate (AdjContext *cx, const AdjValue *args, guint n_args, AdjValue *result)
{
  g_autoptr (GPtrArray) outputs = g_ptr_array_new ();
  g_autoptr (GPtrArray) grads = g_ptr_array_new ();
  Roots roots = { outputs, grads };
  g_autofree AdjTensor **inputs = NULL;
  g_autofree AdjTensor **found = NULL;
  g_autofree AdjValue *items = NULL;
  guint n;

  if (n_args < 2 || !adj_value_is_container (&args[0]) || !adj_value_is_container (&args[1]))
    return fail (cx, "gradients are of lists of tensors");
  n = args[1].n;
  inputs = g_new0 (AdjTensor *, n + 1);
  found = g_new0 (AdjTensor *, n + 1);
  items = g_new0 (AdjValue, n + 1);
  for (guint i = 0; i < n; i++)
    {
      if (args[1].items[i].kind != ADJ_VALUE_TENSOR)
        return fail (cx, "gradients are of lists of tensors");
      inputs[i] = args[1].items[i].tensor;
    }
  add_outputs (cx, &roots, &args[0],
               n_args > 2 && adj_value_is_container (&args[2]) ? &args[2] : NULL);
  if (!take_gradients (cx, &roots, inputs, n, found))
    return FALSE;
  for (guint i = 0; i < n; i++)
    items[i] = ADJ_TENSOR (adj_keep (found[i]));
  *result = adj_value_new_items (ADJ_VALUE_TUPLE, items, n);
  return TRUE;
}

/* -- forward mode -- */

/* A view of the tensor that @tensor wraps below @level. */
static AdjTensor *
view_below (AdjContext *cx, const Level *level, AdjTensor *tensor)
{
  AdjTensor *primal = level_unwrap (level, tensor, NULL);
  AdjMode *entry = adj_context_set_entry (cx, level->mode.below);
  AdjTensor *view = ADJ_APPLY (cx, ADJ_OP_alias, ADJ_TENSOR (primal != NULL ? primal : tensor));

  adj_context_set_entry (cx, entry);
  return view;
}

static gboolean
is_like (AdjContext *cx, const AdjTensorMeta *tangent, const AdjTensorMeta *primal)
{
  return tangent->dtype == primal->dtype &&
         adj_shape_same_sizes (&tangent->shape, &primal->shape, adj_context_get_symbols (cx));
}

static gboolean
make_dual (AdjContext *cx, const AdjValue *args, guint n_args, AdjValue *result)
{
  const Level *level = level_find_forward (cx);
  AdjTensor *view;

  if (!takes_tensor (cx, args, n_args, 2) || args[1].kind != ADJ_VALUE_TENSOR || level == NULL)
    return fail (cx, "a tangent needs a tensor, and a level of forward mode");
  if (!is_like (cx, adj_tensor_get_meta (args[1].tensor), adj_tensor_get_meta (args[0].tensor)))
    return fail (cx, "a tangent must have the sizes and the dtype of its primal");
  view = view_below (cx, level, args[0].tensor);
  return view != NULL && give (level_wrap_dual (cx, level, view, args[1].tensor), result);
}

static gboolean
unpack_dual (AdjContext *cx, const AdjValue *args, guint n_args, AdjValue *result)
{
  const Level *level = level_find_forward (cx);
  AdjValue parts[2] = { ADJ_NONE, ADJ_NONE };
  AdjTensor *view, *tangent;

  if (level == NULL)
    return fail (cx, "no level of forward mode has begun");
  if (!takes_tensor (cx, args, n_args, 1))
    return FALSE;
  view = view_below (cx, level, args[0].tensor);
  tangent = level_tangent (level, args[0].tensor);
  if (view == NULL)
    return FALSE;
  parts[0] = ADJ_TENSOR (adj_keep (view));
  if (tangent != NULL)
    parts[1] = ADJ_TENSOR (adj_keep (tangent));
  *result = adj_value_new_items (ADJ_VALUE_TUPLE, parts, 2);
  return TRUE;
}

static gboolean (*const steps[ADJ_N_TRANSFORMS]) (AdjContext *cx,
                                                  const AdjValue *args,
                                                  guint n_args,
                                                  AdjValue *result) = {
  [ADJ_TRANSFORM_BEGIN_BATCH] = begin_batch,
  [ADJ_TRANSFORM_BEGIN_GRADIENTS] = begin_gradients,
  [ADJ_TRANSFORM_BEGIN_FORWARD] = begin_forward,
  [ADJ_TRANSFORM_END] = end,
  [ADJ_TRANSFORM_ADD_DIM] = add_dim,
  [ADJ_TRANSFORM_REMOVE_DIM] = remove_dim,
  [ADJ_TRANSFORM_WRAP] = wrap,
  [ADJ_TRANSFORM_UNWRAP] = unwrap,
  [ADJ_TRANSFORM_TRACK] = track,
  [ADJ_TRANSFORM_DIFFERENTIATE] = differentiate,
  [ADJ_TRANSFORM_MAKE_DUAL] = make_dual,
  [ADJ_TRANSFORM_UNPACK_DUAL] = unpack_dual,
};

gboolean
transform_step (AdjMode *mode,
                AdjContext *cx,
                AdjTransform step,
                const AdjValue *args,
                guint n_args,
                AdjValue *result)
{
  return steps[step](cx, args, n_args, result);
}
