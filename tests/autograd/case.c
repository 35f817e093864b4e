/* SPDX-License-Identifier: MIT */
/* Turns recorded cases of operators into calls that can be differentiated. */

#include "autograd/case.h"

#include <string.h>

#include "ops/adj-op-id.h"
#include "rules/adj-apply.h"

double
case_random (guint32 *state)
{
  *state = *state * 1664525u + 1013904223u;
  return (double) (*state >> 8) / (1 << 23) - 1;
}

gboolean
case_is_floating (const AdjValue *value)
{
  return value->kind == ADJ_VALUE_TENSOR &&
         adj_dtype_is_floating (adj_tensor_get_meta (value->tensor)->dtype);
}

gboolean
case_is_differentiable (const AdjValue *value)
{
  return value->kind == ADJ_VALUE_TENSOR &&
         adj_dtype_is_differentiable (adj_tensor_get_meta (value->tensor)->dtype);
}

const AdjValue *
case_argument (const OracleCase *c, guint index)
{
  const char *name = adj_op_get_schema (c->op)->arguments[index].name;

  if (index < c->n_args)
    return &c->args[index];
  for (guint i = 0; i + 1 < c->n_kwargs; i += 2)
    if (strcmp (c->kwargs[i].text, name) == 0)
      return &c->kwargs[i + 1];
  return NULL;
}

gboolean
case_has_gradient (const AdjRule *rule, guint arg)
{
  for (guint i = 0; i < rule->n_entries; i++)
    if (rule->entries[i].arg == arg)
      return TRUE;
  return FALSE;
}

AdjTensor *
case_cast (AdjTensor *tensor, AdjDType dtype)
{
  g_autoptr (AdjTensorData) data = adj_tensor_snapshot (tensor);
  AdjTensorMeta meta = *adj_tensor_get_meta (tensor), flat = meta;
  GBytes *bytes = adj_tensor_data_get_bytes (data);
  const gint64 n = (gint64) (g_bytes_get_size (bytes) / adj_dtype_info (meta.dtype)->n_bytes);
  g_autoptr (AdjTensorData) all = NULL;
  g_autoptr (AdjTensorData) cast = NULL;
  g_autoptr (AdjTensorData) out = NULL;

  adj_shape_init_ints (&flat.shape, 1, &n);
  all = adj_tensor_data_new (&flat, bytes, NULL);
  cast = adj_tensor_data_cast (all, dtype);
  meta.dtype = dtype;
  out = adj_tensor_data_new (&meta, adj_tensor_data_get_bytes (cast), NULL);
  return adj_tensor_new_from_data (out);
}

static gboolean
clone_leaf (const AdjValue *value, AdjValue *out, gpointer data)
{
  *out = value->kind == ADJ_VALUE_TENSOR
             ? ADJ_TENSOR (adj_keep (ADJ_APPLY (data, ADJ_OP_clone, *value)))
             : adj_value_copy (value);
  return TRUE;
}

/* Copies a value before it is written: a leaf cannot be written. */
static void
copy_written (AdjContext *cx, AdjValue *value)
{
  AdjValue copies = ADJ_NONE;

  adj_value_map (value, clone_leaf, cx, &copies);
  adj_value_clear (value);
  *value = copies;
}

gboolean
case_call (AdjContext *cx,
           const OracleCase *c,
           AdjValueMapFunc place,
           gpointer data,
           AdjValue *written,
           AdjValue *out)
{
  const AdjSchema *schema = adj_op_get_schema (c->op);
  AdjValue args = { .kind = ADJ_VALUE_TUPLE, .n = c->n_args };
  AdjValue kwargs = { .kind = ADJ_VALUE_DICT, .n = c->n_kwargs };
  AdjValue placed[ADJ_MAX_ARGUMENTS], named[2 * ADJ_MAX_ARGUMENTS];
  gboolean done;

  for (guint i = 0; i < schema->n_arguments; i++)
    {
      const AdjValue *value = case_argument (c, i);

      if (value != NULL)
        adj_value_map (value, place, data, i < c->n_args ? &placed[i] : &named[value - c->kwargs]);
    }
  for (guint i = 0; i < c->n_kwargs; i += 2)
    named[i] = adj_value_copy (&c->kwargs[i]);
  args.items = placed;
  kwargs.items = named;
  if (adj_schema_mutates (schema))
    copy_written (cx, &placed[0]);
  done = adj_call (cx, c->op, &args, &kwargs, out);
  if (schema->n_returns == 0)
    {
      adj_value_clear (written);
      *written = adj_value_copy (&placed[0]);
      *out = *written;
    }
  for (guint i = 0; i < args.n; i++)
    adj_value_clear (&placed[i]);
  for (guint i = 0; i < kwargs.n; i++)
    adj_value_clear (&named[i]);
  return done;
}

static AdjTensor *
random_gradient (AdjContext *cx, AdjTensor *of, AdjDType dtype, guint32 seed)
{
  AdjTensorMeta meta = *adj_tensor_get_meta (of);
  AdjDType wanted = meta.dtype;
  g_autoptr (AdjTensorData) data = NULL;
  g_autoptr (AdjTensorData) rounded = NULL;
  g_autoptr (AdjTensorData) cast = NULL;
  g_autoptr (GBytes) bytes = NULL;
  double *numbers;
  gint64 n;

  adj_shape_init (&meta.shape, NULL, meta.shape.rank, meta.shape.size);
  meta.dtype = adj_dtype_get_widest (wanted);
  n = adj_shape_numel (&meta.shape, NULL).word * (meta.dtype == ADJ_DTYPE_C128 ? 2 : 1);
  numbers = g_new (double, n + 1);
  for (gint64 i = 0; i < n; i++)
    numbers[i] = case_random (&seed);
  bytes = g_bytes_new_take (numbers, (gsize) n * sizeof *numbers);
  data = adj_tensor_data_new (&meta, bytes, NULL);
  rounded = adj_tensor_data_cast (data, dtype);
  cast = adj_tensor_data_cast (rounded, wanted);
  return adj_scope_add (cx, adj_tensor_new_from_data (cast));
}

void
case_collect_roots (
    AdjContext *cx, const AdjValue *result, AdjDType dtype, GPtrArray *roots, GPtrArray *grads)
{
  gboolean complex = dtype == ADJ_DTYPE_NONE && case_is_differentiable (result);

  if (adj_value_is_container (result))
    {
      for (guint i = 0; i < result->n; i++)
        case_collect_roots (cx, &result->items[i], dtype, roots, grads);
      return;
    }
  if ((!complex && !case_is_floating (result)) || !adj_tensor_get_requires_grad (result->tensor))
    return;
  if (dtype == ADJ_DTYPE_NONE)
    dtype = adj_dtype_get_widest (adj_tensor_get_meta (result->tensor)->dtype);
  g_ptr_array_add (grads, random_gradient (cx, result->tensor, dtype, 7 + roots->len));
  g_ptr_array_add (roots, result->tensor);
}

gboolean
case_step (AdjContext *cx, AdjTransform what, const AdjValue *args, guint n, AdjValue *result)
{
  for (AdjMode *mode = adj_context_get_mode (cx); mode != NULL; mode = mode->below)
    if (mode->klass->transform != NULL)
      return mode->klass->transform (mode, cx, what, args, n, result);
  return FALSE;
}

double *
case_read (AdjTensor *tensor, gint64 *n)
{
  g_autoptr (AdjTensorData) data = adj_tensor_snapshot (tensor);
  AdjDType dtype = adj_tensor_get_meta (tensor)->dtype;
  double *numbers;

  *n = adj_tensor_data_get_numel (data) * (adj_dtype_get_real (dtype) != dtype ? 2 : 1);
  numbers = g_new (double, *n + 1);
  adj_tensor_data_read_parts (data, numbers);
  return numbers;
}
