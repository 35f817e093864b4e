/* SPDX-License-Identifier: MIT */
/* The mode of composite tensors: passes calls on them to their class, which calls operators on the
 * inner tensors. */

#include "trace/adj-composite.h"

#include "call/adj-higher-order.h"
#include "call/adj-mode.h"
#include "call/adj-op.h"
#include "call/adj-schema-internal.h"
#include "tensor/adj-tensor-internal.h"
#include "trace/adj-composite-internal.h"

/* The parts of a composite tensor, stored in its slot. */
typedef struct
{
  const AdjCompositeClass *klass;
  AdjTensor *inner[ADJ_MAX_INNER]; /* (owned) */
  AdjValue constant;               /* (owned) */
} Composite;

struct _AdjCompositeCall
{
  AdjOpCall *call;
  AdjTensor *first; /* (unowned): the first argument of the class */
};

/* -- tensors -- */

static void
composite_free (gpointer data)
{
  Composite *composite = data;

  for (guint i = 0; i < composite->klass->n_inner; i++)
    adj_tensor_unref (composite->inner[i]);
  adj_value_clear (&composite->constant);
  g_free (composite);
}

static gpointer
composite_copy (gpointer data)
{
  const Composite *composite = data;
  Composite *copy = g_memdup2 (composite, sizeof *composite);

  for (guint i = 0; i < copy->klass->n_inner; i++)
    adj_tensor_ref (copy->inner[i]);
  copy->constant = adj_value_copy (&composite->constant);
  return copy;
}

static const AdjSlotClass slot_class = { .free = composite_free, .copy = composite_copy };

static Composite *
find (const AdjTensor *tensor)
{
  return adj_tensor_get_slot (tensor, ADJ_SLOT_COMPOSITE);
}

/* @base: (nullable): the tensor that it is a view of. */
static AdjTensor *
make (AdjContext *cx,
      const Composite *like,
      AdjTensor *const *inner,
      const AdjTensorMeta *outer,
      AdjTensor *base)
{
  Composite *composite = g_memdup2 (like, sizeof *like);
  AdjTensorMeta meta = outer != NULL ? *outer : *adj_tensor_get_meta (inner[0]);
  AdjTensor *tensor;

  for (guint i = 0; i < composite->klass->n_inner; i++)
    composite->inner[i] = adj_tensor_ref (inner[i]);
  composite->constant = adj_value_copy (&like->constant);
  meta.requires_grad = FALSE;
  if (base != NULL)
    {
      tensor = adj_tensor_new (&meta, adj_tensor_get_storage (base));
      adj_tensor_share_version (tensor, base);
    }
  else
    tensor = adj_tensor_new_empty (&meta, adj_context_get_symbols (cx), TRUE);
  adj_tensor_set_slot (tensor, ADJ_SLOT_COMPOSITE, composite, &slot_class);
  return adj_scope_add (cx, tensor);
}

AdjTensor *
adj_composite_new (AdjContext *cx,
                   const AdjCompositeClass *klass,
                   AdjTensor *const *inner,
                   const AdjValue *constant,
                   const AdjTensorMeta *outer)
{
  const Composite like = { .klass = klass, .constant = constant != NULL ? *constant : ADJ_NONE };

  g_return_val_if_fail (cx != NULL && klass != NULL && inner != NULL, NULL);
  g_return_val_if_fail (klass->n_inner > 0 && klass->n_inner <= ADJ_MAX_INNER, NULL);

  if (adj_context_has_error (cx))
    return NULL;
  for (guint i = 0; i < klass->n_inner; i++)
    if (inner[i] == NULL)
      {
        adj_context_fail (cx, ADJ_ERROR, ADJ_ERROR_SHAPE, "%s: inner tensor %u is missing",
                          klass->name, i);
        return NULL;
      }
  return make (cx, &like, inner, outer, NULL);
}

const AdjCompositeClass *
adj_composite_get_class (const AdjTensor *tensor)
{
  const Composite *composite;

  g_return_val_if_fail (tensor != NULL, NULL);

  composite = find (tensor);
  return composite != NULL ? composite->klass : NULL;
}

AdjTensor *
adj_composite_get_inner (const AdjTensor *tensor, guint index)
{
  const Composite *composite = find (tensor);

  g_return_val_if_fail (composite != NULL && index < composite->klass->n_inner, NULL);

  return composite->inner[index];
}

const AdjValue *
adj_composite_get_constant (const AdjTensor *tensor)
{
  g_return_val_if_fail (find (tensor) != NULL, NULL);

  return &find (tensor)->constant;
}

AdjTensor *
adj_composite_map (AdjContext *cx, AdjTensor *tensor, AdjCompositeMapFunc map, gpointer data)
{
  const Composite *composite = find (tensor);
  AdjTensor *inner[ADJ_MAX_INNER];

  g_return_val_if_fail (composite != NULL, NULL);

  for (guint i = 0; i < composite->klass->n_inner; i++)
    {
      inner[i] = find (composite->inner[i]) != NULL
                     ? adj_composite_map (cx, composite->inner[i], map, data)
                     : map (cx, composite->inner[i], data);
      if (inner[i] == NULL)
        return NULL;
    }
  return make (cx, composite, inner, adj_tensor_get_meta (tensor), NULL);
}

AdjTensor *
adj_composite_alias (AdjContext *cx, AdjTensor *tensor, AdjTensor *like)
{
  const Composite *composite = find (tensor);
  const AdjTensorMeta *meta = adj_tensor_get_meta (tensor);

  return composite != NULL
             ? make (cx, composite, composite->inner, meta, like)
             : adj_scope_add (cx, adj_tensor_new (meta, adj_tensor_get_storage (like)));
}

/* -- for classes -- */

AdjContext *
adj_composite_call_get_context (const AdjCompositeCall *call)
{
  return call->call->cx;
}

const AdjOp *
adj_composite_call_get_op (const AdjCompositeCall *call)
{
  return call->call->op;
}

const AdjValue *
adj_composite_call_get_args (const AdjCompositeCall *call)
{
  return call->call->args;
}

guint
adj_composite_call_get_n_args (const AdjCompositeCall *call)
{
  return call->call->schema->n_arguments;
}

typedef struct
{
  const AdjCompositeClass *klass;
  guint index;
} Part;

static gboolean
take_inner (const AdjValue *leaf, AdjValue *out, gpointer data)
{
  const Part *part = data;
  const Composite *composite = leaf->kind == ADJ_VALUE_TENSOR ? find (leaf->tensor) : NULL;
  AdjValue inner = *leaf;

  if (composite != NULL && composite->klass == part->klass)
    inner.tensor = composite->inner[part->index];
  *out = adj_value_copy (&inner);
  return TRUE;
}

gboolean
adj_composite_call_part (const AdjCompositeCall *call, guint index, AdjValue *result)
{
  Part part = { find (call->first)->klass, index };
  guint n = call->call->schema->n_arguments;
  AdjValue args[ADJ_MAX_ARGUMENTS];
  gboolean done;

  g_return_val_if_fail (index < part.klass->n_inner, FALSE);

  for (guint i = 0; i < n; i++)
    adj_value_map (&call->call->args[i], take_inner, &part, &args[i]);
  done = adj_call_bound (call->call->cx, call->call->op, args, result);
  for (guint i = 0; i < n; i++)
    adj_value_clear (&args[i]);
  return done;
}

/* The part of the class's result @value that is result @index of @call. */
static const AdjValue *
pick (const AdjOpCall *call, const AdjValue *value, guint index)
{
  if (!call->returns_list && call->schema->n_returns < 2)
    return value;
  return index < value->n ? &value->items[index] : NULL;
}

/* Gives @written, the argument returned, the metadata of @result if the operator changes metadata.
 */
static void
show (AdjTensor *written, const AdjOpCall *call, const AdjOpResult *result)
{
  AdjTensorMeta meta = result->meta;

  if ((call->op->flags & ADJ_OP_METADATA) == 0)
    return;
  meta.requires_grad = adj_tensor_get_meta (written)->requires_grad;
  adj_tensor_set (written, &meta, NULL);
}

static gboolean
join_one (const AdjCompositeCall *call, const AdjValue *parts, guint index, AdjValue *out)
{
  const Composite *composite = find (call->first);
  const AdjOpResult *result = &call->call->results[index];
  const AdjType *type = &call->call->schema->returns[call->call->returns_list ? 0 : index].type;
  AdjTensor *inner[ADJ_MAX_INNER], *base = NULL;

  for (guint k = 0; k < composite->klass->n_inner; k++)
    {
      const AdjValue *part = pick (call->call, &parts[k], index);

      *out = part != NULL ? *part : ADJ_NONE;
      if (out->kind != ADJ_VALUE_TENSOR)
        return TRUE;
      inner[k] = out->tensor;
    }
  if (result->alias_of >= 0)
    base = adj_op_call_tensor_or_null (call->call, (guint) result->alias_of);
  if (base != NULL && type->written)
    {
      show (base, call->call, result);
      *out = ADJ_TENSOR (base);
      return TRUE;
    }
  *out = ADJ_TENSOR (make (call->call->cx, composite, inner, &result->meta, base));
  return TRUE;
}

gboolean
adj_composite_call_join (const AdjCompositeCall *call, const AdjValue *parts, AdjValue *result)
{
  AdjOpCall *from = call->call;
  AdjValue *items;

  *result = ADJ_NONE;
  if (!from->returns_list && from->schema->n_returns < 2)
    return from->n_results == 0 || join_one (call, parts, 0, result);
  items = adj_scope_alloc (from->cx, from->n_results * sizeof *items);
  for (guint i = 0; i < from->n_results; i++)
    if (!join_one (call, parts, i, &items[i]))
      return FALSE;
  result->kind = from->returns_list ? ADJ_VALUE_LIST : ADJ_VALUE_TUPLE;
  result->n = from->n_results;
  result->items = items;
  return TRUE;
}

gboolean
adj_composite_call_each (AdjCompositeCall *call, AdjValue *result)
{
  AdjValue parts[ADJ_MAX_INNER];

  for (guint k = 0; k < find (call->first)->klass->n_inner; k++)
    if (!adj_composite_call_part (call, k, &parts[k]))
      return FALSE;
  return adj_composite_call_join (call, parts, result);
}

/* -- the mode -- */

static gboolean
find_first (const AdjValue *leaf, gpointer data)
{
  AdjTensor **first = data;

  if (leaf->kind == ADJ_VALUE_TENSOR && find (leaf->tensor) != NULL)
    *first = leaf->tensor;
  return *first == NULL;
}

static gboolean
bump_version (const AdjValue *leaf, gpointer data)
{
  if (leaf->kind == ADJ_VALUE_TENSOR)
    adj_tensor_bump_version (leaf->tensor);
  return TRUE;
}

static void
bump_versions (const AdjOpCall *call)
{
  if (!adj_schema_counts_writes (call->schema))
    return;
  for (guint i = 0; i < call->schema->n_arguments; i++)
    if (call->schema->arguments[i].type.written)
      adj_value_foreach (&call->args[i], bump_version, NULL);
}

/* Replaces the results inferred by the shape rule by those of the class. */
static gboolean
put_results (AdjOpCall *call, const AdjValue *value)
{
  for (guint i = 0; i < call->n_results; i++)
    {
      const AdjValue *given = pick (call, value, i);
      AdjOpResult *result = &call->results[i];

      if (given == NULL)
        return adj_op_call_fail (call, "its results are %u and not %u", value->n, call->n_results);
      if (given->kind != ADJ_VALUE_TENSOR)
        {
          result->is_none = TRUE;
          result->plain = *given;
          continue;
        }
      result->is_none = FALSE;
      result->tensor = adj_tensor_ref (given->tensor);
      result->meta = *adj_tensor_get_meta (given->tensor);
    }
  bump_versions (call);
  return TRUE;
}

static gboolean
call_class (AdjMode *mode, AdjOpCall *call, AdjTensor *first)
{
  AdjCompositeCall composite = { call, first };
  AdjMode *entry;
  AdjValue value;
  gboolean done;

  if (!adj_op_call_infer (call))
    return FALSE;
  entry = adj_context_set_entry (call->cx, mode);
  adj_scope_begin (call->cx);
  done = find (first)->klass->call (&composite, &value) && !adj_context_has_error (call->cx) &&
         put_results (call, &value);
  adj_scope_end (call->cx);
  adj_context_set_entry (call->cx, entry);
  return done;
}

static gboolean
composite_call (AdjMode *mode, AdjOpCall *call)
{
  AdjTensor *first = NULL;

  for (guint i = 0; i < call->schema->n_arguments && first == NULL; i++)
    if (call->args[i].kind == ADJ_VALUE_TENSOR)
      find_first (&call->args[i], &first);
    else if (adj_value_is_container (&call->args[i]))
      adj_value_foreach (&call->args[i], find_first, &first);
  return first != NULL ? call_class (mode, call, first) : adj_mode_call_below (mode, call);
}

static gboolean
composite_higher (AdjMode *mode, AdjHigherCall *call)
{
  AdjTensor *first = NULL;

  for (guint i = 0; i < call->n_args && first == NULL; i++)
    adj_value_foreach (&call->args[i], find_first, &first);
  if (first != NULL)
    return adj_higher_fail (call, ADJ_ERROR_UNSUPPORTED, "takes no %s, which is made of tensors",
                            find (first)->klass->name);
  return adj_mode_call_higher_below (mode, call);
}

static const AdjModeClass composite_class = {
  .name = "composite",
  .call = composite_call,
  .higher = composite_higher,
};

gboolean
adj_composite_is_handled (const AdjMode *mode)
{
  while (mode != NULL && mode->klass != &composite_class)
    mode = mode->below;
  return mode != NULL;
}

AdjMode *
adj_composite_mode_new (void)
{
  AdjMode *mode = g_new0 (AdjMode, 1);

  mode->klass = &composite_class;
  return mode;
}
