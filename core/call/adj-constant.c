/* SPDX-License-Identifier: MIT */
/* Known values of fake tensors: small constants, and symbols for data-dependent integers. */

#include "call/adj-constant.h"

#include <string.h>

#include "call/adj-op.h"
#include "call/context-private.h"
#include "tensor/adj-symbols-internal.h"
#include "tensor/adj-tensor-internal.h"

/* The known value of a fake tensor, or the symbol for it, in its slot. */
typedef struct
{
  AdjTensor *value;                /* (owned) (nullable) */
  AdjSize symbols[ADJ_N_UNBACKED]; /* 0: none yet */
  guint32 version;                 /* of the fake tensor when @value was set */
} Known;

static void
known_free (gpointer data)
{
  Known *known = data;

  if (known->value != NULL)
    adj_tensor_unref (known->value);
  g_free (known);
}

static gboolean
is_fake (const AdjTensor *tensor)
{
  return adj_storage_is_fake (adj_tensor_get_storage (tensor));
}

/* Whether it certainly has at most one element. */
static gboolean
is_small (const AdjTensor *tensor)
{
  const AdjShape *shape = &adj_tensor_get_meta (tensor)->shape;
  gboolean empty = FALSE, one = TRUE;

  for (guint i = 0; i < shape->rank; i++)
    {
      if (!adj_size_is_int (shape->size[i]))
        return FALSE;
      empty |= shape->size[i].word == 0;
      one &= shape->size[i].word == 1;
    }
  return empty || one;
}

static const AdjSlotClass slot_class = { .free = known_free };

/* (nullable): the state, if @tensor was not written since. */
static Known *
find (const AdjTensor *tensor)
{
  Known *known = adj_tensor_get_slot (tensor, ADJ_SLOT_CONSTANT);

  return known != NULL && known->version == adj_tensor_get_version (tensor) ? known : NULL;
}

static AdjTensor *
find_known (const AdjTensor *tensor)
{
  const Known *known = find (tensor);

  return known != NULL ? known->value : NULL;
}

AdjTensor *
adj_constant_get (AdjTensor *tensor)
{
  return is_fake (tensor) ? find_known (tensor) : tensor;
}

static Known *
set_known (AdjTensor *tensor, AdjTensor *value)
{
  Known *known = g_new0 (Known, 1);

  known->value = adj_keep (value);
  known->version = adj_tensor_get_version (tensor);
  adj_tensor_set_slot (tensor, ADJ_SLOT_CONSTANT, known, &slot_class);
  return known;
}

void
adj_constant_share (AdjTensor *from, AdjTensor *to)
{
  AdjTensor *value = find_known (from);

  if (value != NULL)
    set_known (to, value);
}

/* -- reading -- */

gboolean
adj_constant_read (AdjContext *cx, AdjTensor *tensor, const char *why, AdjValue *out)
{
  AdjTensor *value = adj_constant_get (tensor);
  g_autoptr (AdjTensorData) data = value != NULL ? adj_tensor_snapshot (value) : NULL;
  AdjDTypeCategory category;
  double number;

  *out = ADJ_NONE;
  if (data == NULL)
    {
      adj_context_fail (cx, ADJ_ERROR, ADJ_ERROR_UNSUPPORTED,
                        "%s depends on data, which a fake tensor does not have", why);
      return FALSE;
    }
  if (adj_tensor_data_get_numel (data) != 1)
    {
      adj_context_fail (cx, ADJ_ERROR, ADJ_ERROR_SHAPE,
                        "%s: a tensor of %" G_GINT64_FORMAT " elements is no number", why,
                        adj_tensor_data_get_numel (data));
      return FALSE;
    }
  number = adj_tensor_data_get_double (data, 0);
  category = adj_dtype_info (adj_tensor_data_get_meta (data)->dtype)->category;
  if (category == ADJ_CATEGORY_BOOL)
    *out = ADJ_BOOL (number != 0);
  else if (category == ADJ_CATEGORY_INTEGER)
    *out = ADJ_INT ((gint64) number);
  else
    *out = ADJ_FLOAT (number);
  return TRUE;
}

/* -- symbols -- */

gboolean
adj_unbacked_get (
    AdjContext *cx, AdjTensor *tensor, AdjUnbacked what, gint64 min, gint64 max, AdjSize *out)
{
  Known *known = find (tensor);

  if (!adj_context_get_unbacked (cx) || !is_fake (tensor))
    return FALSE;
  if (known == NULL)
    known = set_known (tensor, NULL);
  if (adj_size_is_int (known->symbols[what]))
    known->symbols[what] = adj_symbols_add_unbacked (adj_context_get_symbols (cx), min, max, NULL);
  *out = known->symbols[what];
  return TRUE;
}

/* %FALSE, without an error: the context allows no unbacked symbols, or @tensor is real. */
static gboolean
get_float (AdjContext *cx, AdjTensor *tensor, AdjSize *out)
{
  Known *known = find (tensor);

  if (!adj_context_get_unbacked (cx) || !is_fake (tensor))
    return FALSE;
  if (known == NULL)
    known = set_known (tensor, NULL);
  if (adj_size_is_int (known->symbols[ADJ_UNBACKED_ITEM]))
    known->symbols[ADJ_UNBACKED_ITEM] =
        adj_symbols_add_unbacked_float (adj_context_get_symbols (cx), NULL);
  *out = known->symbols[ADJ_UNBACKED_ITEM];
  return TRUE;
}

gboolean
adj_unbacked_read (AdjContext *cx, AdjTensor *tensor, const char *why, AdjValue *out)
{
  const AdjDTypeInfo *info = adj_dtype_info (adj_tensor_get_meta (tensor)->dtype);
  gboolean truth = info->category == ADJ_CATEGORY_BOOL;
  AdjSize size;

  if (adj_constant_get (tensor) == NULL && info->category == ADJ_CATEGORY_FLOAT &&
      is_small (tensor) && get_float (cx, tensor, &size))
    {
      *out = adj_value_from_size (size);
      return TRUE;
    }
  if (adj_constant_get (tensor) != NULL || info->category > ADJ_CATEGORY_INTEGER ||
      !is_small (tensor) ||
      !adj_unbacked_get (cx, tensor, ADJ_UNBACKED_ITEM, truth ? 0 : G_MININT64,
                         truth ? 1 : G_MAXINT64, &size))
    return adj_constant_read (cx, tensor, why, out);
  if (truth)
    size = adj_size_apply (adj_context_get_symbols (cx), ADJ_SIZE_EQ, size, ADJ_SIZE (1));
  *out = adj_value_from_size (size);
  return TRUE;
}

/* -- propagating -- */

/* A literal lifted from the program: the only operator that makes known values from real tensors.
 */
static gboolean
is_lift (const AdjOpCall *call)
{
  return strcmp (call->schema->name, "lift_fresh_copy") == 0 ||
         strcmp (call->schema->name, "lift_fresh") == 0;
}

/* Sets @args to the arguments of @call with known tensors replaced by their values; %FALSE when
 * a tensor is unknown. */
static gboolean
substitute (const AdjOpCall *call, AdjValue *args)
{
  guint n_tensors = 0;

  for (guint i = 0; i < call->schema->n_arguments; i++)
    {
      const AdjValue *value = &call->args[i];
      AdjTensor *known;

      args[i] = *value;
      if (value->kind == ADJ_VALUE_SIZE || adj_value_is_container (value))
        {
          for (guint k = 0; adj_value_is_container (value) && k < value->n; k++)
            if (value->items[k].kind == ADJ_VALUE_TENSOR || value->items[k].kind == ADJ_VALUE_SIZE)
              return FALSE;
          if (value->kind == ADJ_VALUE_SIZE)
            return FALSE;
        }
      if (value->kind != ADJ_VALUE_TENSOR)
        continue;
      known = is_lift (call) && !is_fake (value->tensor) && is_small (value->tensor)
                  ? value->tensor
                  : find_known (value->tensor);
      if (known == NULL)
        return FALSE;
      args[i] = ADJ_TENSOR (known);
      n_tensors++;
    }
  return n_tensors > 0;
}

void
adj_constant_propagate (AdjOpCall *call)
{
  AdjValue args[ADJ_MAX_ARGUMENTS], result;
  AdjContext *real;

  if ((call->op->flags & (ADJ_OP_RANDOM | ADJ_OP_METADATA | ADJ_OP_NO_COMPARE)) != 0 ||
      call->schema->n_returns != 1 || call->n_results != 1 || call->results[0].tensor == NULL ||
      !is_small (call->results[0].tensor) || !substitute (call, args) ||
      adj_schema_mutates (call->schema))
    return;

  real = adj_context_new_of (call->cx->operators, NULL);
  adj_context_push_mode (real, adj_eager_mode_new ());
  if (adj_call_bound (real, call->op, args, &result) && result.kind == ADJ_VALUE_TENSOR)
    set_known (call->results[0].tensor, result.tensor);
  adj_context_take_error (real, NULL);
  adj_context_free (real);
}
