/* SPDX-License-Identifier: MIT */
/* The levels of torch.func.grad, vmap and jvp.  A level of gradients is three modes: the first
 * wraps arguments as tensors of the level, autograd records the call, and the last unwraps them for
 * the level below. Batches (batching.c) and forward mode (forward.c) are one mode each. */

#include "autograd/forward-private.h"
#include "call/adj-op.h"
#include "call/adj-schema-internal.h"
#include "ops/adj-op-id.h"
#include "rules/adj-apply.h"
#include "trace/adj-composite-internal.h"

static gboolean
refuse_leaked (AdjCompositeCall *call, AdjValue *result)
{
  adj_context_fail (adj_composite_call_get_context (call), ADJ_ERROR, ADJ_ERROR_UNSUPPORTED,
                    "a tensor of a function that torch.func transforms is used outside of it");
  return FALSE;
}

static const char *const inner_names[] = { "value", "tangent" };

static const AdjCompositeClass tracked_class = {
  .name = "GradTrackingTensor",
  .n_inner = 1,
  .inner_names = inner_names,
  .call = refuse_leaked,
};

static const AdjCompositeClass batched_class = {
  .name = "BatchedTensor",
  .n_inner = 1,
  .inner_names = inner_names,
  .call = refuse_leaked,
};

static const AdjCompositeClass dual_class = {
  .name = "DualTensor",
  .n_inner = 2,
  .inner_names = inner_names,
  .call = refuse_leaked,
};

static const AdjCompositeClass *const classes[] = {
  [LEVEL_GRADIENTS] = &tracked_class,
  [LEVEL_BATCH] = &batched_class,
  [LEVEL_FORWARD] = &dual_class,
};

static const AdjModeClass drop_class, batch_class, forward_class;

/* -- tensors -- */

static gint64
id_of (const AdjTensor *tensor)
{
  return adj_composite_get_constant (tensor)->integer >> 8;
}

static gboolean
is_of (const AdjTensor *tensor, const AdjCompositeClass *klass, gint64 id)
{
  return adj_composite_get_class (tensor) == klass && id_of (tensor) == id;
}

static AdjTensorMeta
without_dim (const AdjTensorMeta *meta, guint dim)
{
  AdjTensorMeta rest = *meta;

  for (guint i = dim; i + 1 < meta->shape.rank; i++)
    {
      rest.shape.size[i] = meta->shape.size[i + 1];
      rest.shape.stride[i] = meta->shape.stride[i + 1];
    }
  rest.shape.rank--;
  return rest;
}

AdjTensor *
level_wrap (AdjContext *cx, const Level *level, AdjTensor *inner, guint dim)
{
  const AdjTensorMeta *meta = adj_tensor_get_meta (inner);
  gboolean batched = level->kind == LEVEL_BATCH;
  AdjTensorMeta outer = batched ? without_dim (meta, dim) : *meta;
  AdjValue constant = ADJ_INT (level->id << 8 | dim);

  return adj_composite_new (cx, classes[level->kind], &inner, &constant, &outer);
}

AdjTensor *
level_wrap_dual (AdjContext *cx, const Level *level, AdjTensor *primal, AdjTensor *tangent)
{
  AdjTensor *parts[] = { primal, tangent };
  AdjValue constant = ADJ_INT (level->id << 8);

  return adj_composite_new (cx, &dual_class, parts, &constant, adj_tensor_get_meta (primal));
}

AdjTensor *
level_tangent (const Level *level, const AdjTensor *tensor)
{
  return is_of (tensor, &dual_class, level->id) ? adj_composite_get_inner (tensor, 1) : NULL;
}

AdjTensor *
level_unwrap (const Level *level, const AdjTensor *tensor, guint *dim)
{
  if (!is_of (tensor, classes[level->kind], level->id))
    return NULL;
  if (dim != NULL)
    *dim = (guint) (adj_composite_get_constant (tensor)->integer & 0xff);
  return adj_composite_get_inner (tensor, 0);
}

AdjTensor *
level_spread (AdjContext *cx, const Level *level, AdjTensor *tensor, guint to, gboolean unsqueezed)
{
  AdjValue sizes[ADJ_MAX_RANK + 1];
  guint rank = adj_tensor_get_rank (tensor);

  for (guint i = 0; i < rank; i++)
    sizes[i < to ? i : i + 1] = adj_value_from_size (adj_tensor_get_meta (tensor)->shape.size[i]);
  sizes[to] = adj_value_from_size (level->size);
  if (unsqueezed)
    tensor = ADJ_APPLY (cx, ADJ_OP_unsqueeze, ADJ_TENSOR (tensor), ADJ_INT (to));
  return tensor == NULL ? NULL
                        : ADJ_APPLY (cx, ADJ_OP_expand, ADJ_TENSOR (tensor),
                                     { .kind = ADJ_VALUE_LIST, .n = rank + 1, .items = sizes });
}

AdjTensor *
level_bring_out (AdjContext *cx, const Level *level, AdjTensor *tensor, guint to)
{
  guint dim;
  AdjTensor *inner = level_unwrap (level, tensor, &dim);

  if (inner == NULL)
    return level_spread (cx, level, tensor, to, FALSE);
  return dim == to
             ? inner
             : ADJ_APPLY (cx, ADJ_OP_movedim_int, ADJ_TENSOR (inner), ADJ_INT (dim), ADJ_INT (to));
}

AdjTensor *
level_untrack (AdjTensor *tensor)
{
  return adj_composite_get_class (tensor) == &tracked_class ? adj_composite_get_inner (tensor, 0)
                                                            : tensor;
}

static gboolean
is_alive (const AdjMode *mode, gint64 id)
{
  for (; mode != NULL; mode = mode->below)
    if (mode->klass == &drop_class && ((const Level *) mode)->id == id)
      return TRUE;
  return FALSE;
}

AdjTensor *
level_peel (const AdjMode *mode, AdjTensor *tensor)
{
  while (adj_composite_get_class (tensor) == &tracked_class && !is_alive (mode, id_of (tensor)))
    tensor = adj_composite_get_inner (tensor, 0);
  return tensor;
}

/* -- calls with other arguments -- */

typedef struct
{
  AdjContext *cx;
  const AdjMode *mode;
  const Level *level;
} Mapping;

/* @entry: entry of the calls that the modes below make. */
static gboolean
call_mapped (AdjMode *mode, AdjOpCall *call, AdjValueMapFunc map, Mapping *mapping, AdjMode *entry)
{
  AdjMode *before = adj_context_set_entry (call->cx, entry);
  const AdjValue *args = call->args;
  AdjValue mapped[ADJ_MAX_ARGUMENTS];
  gboolean done = TRUE;
  guint n = 0;

  for (; done && n < call->schema->n_arguments; n++)
    {
      mapped[n] = ADJ_NONE;
      done = adj_value_map (&args[n], map, mapping, &mapped[n]);
    }
  call->args = mapped;
  done = done && adj_mode_call_below (mode, call);
  call->args = args;
  while (n-- > 0)
    adj_value_clear (&mapped[n]);
  adj_context_set_entry (call->cx, before);
  return done;
}

static gboolean
peel_leaf (const AdjValue *leaf, AdjValue *out, gpointer data)
{
  const Mapping *mapping = data;

  *out = leaf->kind == ADJ_VALUE_TENSOR
             ? ADJ_TENSOR (adj_tensor_ref (level_peel (mapping->mode, leaf->tensor)))
             : adj_value_copy (leaf);
  return TRUE;
}

/* Unwraps tensors of levels that have ended; below all living levels. */
static gboolean
strip_call (AdjMode *mode, AdjOpCall *call)
{
  Mapping mapping = { call->cx, mode, NULL };

  return call_mapped (mode, call, peel_leaf, &mapping, mode->below);
}

static gboolean
lift_leaf (const AdjValue *leaf, AdjValue *out, gpointer data)
{
  const Mapping *mapping = data;
  AdjTensor *tensor;

  if (leaf->kind != ADJ_VALUE_TENSOR)
    {
      *out = adj_value_copy (leaf);
      return TRUE;
    }
  tensor = level_peel (mapping->mode, leaf->tensor);
  if (level_unwrap (mapping->level, tensor, NULL) == NULL)
    tensor = level_wrap (mapping->cx, mapping->level, tensor, 0);
  *out = ADJ_TENSOR (adj_keep (tensor));
  return tensor != NULL;
}

typedef struct
{
  AdjMode mode;
  const Level *level; /* (unowned): below it */
} Lift;

static gboolean
lift_call (AdjMode *mode, AdjOpCall *call)
{
  Mapping mapping = { call->cx, mode, ((Lift *) mode)->level };

  return call_mapped (mode, call, lift_leaf, &mapping, mode);
}

static gboolean
drop_leaf (const AdjValue *leaf, AdjValue *out, gpointer data)
{
  const Mapping *mapping = data;
  AdjTensor *inner =
      leaf->kind == ADJ_VALUE_TENSOR ? level_unwrap (mapping->level, leaf->tensor, NULL) : NULL;

  *out = inner != NULL ? ADJ_TENSOR (adj_tensor_ref (inner)) : adj_value_copy (leaf);
  return TRUE;
}

/* Makes a result a tensor of the level: the written argument itself, a view of an argument, or a
 * new one. */
static gboolean
wrap_result (const Level *level, AdjOpCall *call, guint index)
{
  AdjOpResult *result = &call->results[index];
  const AdjType *type = &call->schema->returns[call->returns_list ? 0 : index].type;
  AdjTensor *base =
      result->alias_of >= 0 ? adj_op_call_tensor_or_null (call, (guint) result->alias_of) : NULL;
  AdjTensor *wrapped;

  if (result->tensor == NULL)
    return TRUE;
  if (base != NULL && type->written)
    wrapped = base;
  else
    {
      wrapped = level_wrap (call->cx, level, result->tensor, 0);
      if (wrapped != NULL && base != NULL)
        wrapped = adj_composite_alias (call->cx, wrapped, base);
    }
  if (wrapped == NULL)
    return FALSE;
  adj_tensor_unref (result->tensor);
  result->tensor = adj_tensor_ref (wrapped);
  result->meta = *adj_tensor_get_meta (wrapped);
  return TRUE;
}

static gboolean
drop_call (AdjMode *mode, AdjOpCall *call)
{
  Mapping mapping = { call->cx, mode, (Level *) mode };
  gboolean done = call_mapped (mode, call, drop_leaf, &mapping, mode->below);

  for (guint i = 0; done && i < call->n_results; i++)
    done = wrap_result ((Level *) mode, call, i);
  return done;
}

static const AdjModeClass strip_class = { .name = "ended levels", .call = strip_call };
static const AdjModeClass lift_class = { .name = "into a level", .call = lift_call };
static const AdjModeClass drop_class = { .name = "out of a level",
                                         .transforms = TRUE,
                                         .call = drop_call };
static const AdjModeClass batch_class = { .name = "batch",
                                          .transforms = TRUE,
                                          .call = batching_call };
static const AdjModeClass forward_class = { .name = "forward mode",
                                            .transforms = TRUE,
                                            .call = forward_call };

static const AdjModeClass *const modes[] = {
  [LEVEL_GRADIENTS] = &drop_class,
  [LEVEL_BATCH] = &batch_class,
  [LEVEL_FORWARD] = &forward_class,
};

/* -- the stack -- */

static gboolean
is_level (const AdjMode *mode)
{
  return mode->klass == &drop_class || mode->klass == &batch_class || mode->klass == &forward_class;
}

static Level *
innermost (AdjContext *cx)
{
  for (AdjMode *mode = adj_context_get_mode (cx); mode != NULL; mode = mode->below)
    if (is_level (mode))
      return (Level *) mode;
  return NULL;
}

Level *
level_find (AdjContext *cx, guint depth)
{
  for (AdjMode *mode = adj_context_get_mode (cx); mode != NULL; mode = mode->below)
    if (is_level (mode) && ((Level *) mode)->depth == depth)
      return (Level *) mode;
  return NULL;
}

Level *
level_find_forward (AdjContext *cx)
{
  for (AdjMode *mode = adj_context_get_mode (cx); mode != NULL; mode = mode->below)
    if (mode->klass == &forward_class)
      return (Level *) mode;
  return NULL;
}

static void
push_ground (AdjContext *cx)
{
  AdjMode *strip;

  for (AdjMode *mode = adj_context_get_mode (cx); mode != NULL; mode = mode->below)
    if (mode->klass == &strip_class)
      return;
  strip = g_new0 (AdjMode, 1);
  strip->klass = &strip_class;
  adj_context_push_mode (cx, strip);
}

guint
level_push (AdjContext *cx, LevelKind kind, AdjSize size)
{
  static gint64 last_id;
  const Level *outer = innermost (cx);
  AdjAutogradFlags flags = autograd_flags (cx);
  Level *level = g_new0 (Level, 1);

  push_ground (cx);
  level->mode.klass = modes[kind];
  level->kind = kind;
  level->id = __atomic_add_fetch (&last_id, 1, __ATOMIC_RELAXED);
  level->depth = outer != NULL ? outer->depth + 1 : 1;
  level->size = size;
  adj_context_push_mode (cx, &level->mode);
  if (kind == LEVEL_GRADIENTS)
    {
      Lift *lift = g_new0 (Lift, 1);

      adj_context_push_mode (cx, adj_autograd_mode_new ());
      adj_autograd_set_flags (cx, flags);
      lift->mode.klass = &lift_class;
      lift->level = level;
      adj_context_push_mode (cx, &lift->mode);
      level->n_more = 2;
    }
  return level->depth;
}

gboolean
level_pop (AdjContext *cx)
{
  const Level *level = innermost (cx);

  if (level == NULL)
    return FALSE;
  for (guint i = level->n_more + 1; i > 0; i--)
    adj_context_pop_mode (cx);
  return TRUE;
}
