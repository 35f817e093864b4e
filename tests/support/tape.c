/* SPDX-License-Identifier: MIT */
/* A context with autograd and short helpers for tests. */

#include "support/tape.h"

#include <string.h>

#include "call/adj-mode.h"
#include "ops/adj-op-table.h"
#include "rules/adj-operators.h"

AdjContext *
tape_new (void)
{
  AdjContext *cx = adj_context_new ();

  adj_context_push_mode (cx, adj_autograd_mode_new ());
  return cx;
}

gboolean
tape_is_captured (void)
{
  return FALSE;
}

AdjTensor *
tape_tensor (AdjContext *cx, guint n, const double *values)
{
  const gint64 size = n;
  AdjTensorMeta meta = {
    .dtype = ADJ_DTYPE_F64, .device = ADJ_CPU, .has_strides = TRUE, .storage = -1
  };
  g_autoptr (GBytes) bytes = g_bytes_new (values, MAX (n, 1) * sizeof *values);
  g_autoptr (AdjTensorData) data = NULL;

  adj_shape_init_ints (&meta.shape, n == 0 ? 0 : 1, &size);
  data = adj_tensor_data_new (&meta, bytes, NULL);
  return adj_scope_add (cx, adj_tensor_new_from_data (data));
}

AdjTensor *
tape_leaf (AdjContext *cx, guint n, const double *values)
{
  AdjTensor *tensor = tape_tensor (cx, n, values);

  g_assert_true (adj_tensor_set_requires_grad (cx, tensor, TRUE));
  return tensor;
}

AdjTensor *
tape_scalar (AdjContext *cx, double value)
{
  return tape_leaf (cx, 0, &value);
}

static gboolean
call (AdjContext *cx, const char *name, guint n, const AdjValue *args, AdjValue *result)
{
  g_autofree char *target =
      g_strdup_printf ("torch.ops.aten.%s%s", name, strchr (name, '.') != NULL ? "" : ".default");
  AdjValue tuple = { .kind = ADJ_VALUE_TUPLE, .n = n, .items = (AdjValue *) args };
  const AdjOp *op = adj_op_find (target);

  if (op == NULL)
    g_error ("there is no %s", target);
  return adj_call (cx, op, &tuple, NULL, result);
}

gboolean
tape_try (AdjContext *cx, const char *name, guint n, const AdjValue *args)
{
  AdjValue result;

  return call (cx, name, n, args, &result);
}

AdjTensor *
tape_call (AdjContext *cx, const char *name, guint n, const AdjValue *args)
{
  AdjValue result;

  if (!call (cx, name, n, args, &result))
    {
      g_autoptr (GError) error = NULL;

      adj_context_take_error (cx, &error);
      g_error ("%s: %s", name, error->message);
    }
  return result.tensor;
}

void
tape_backward (AdjContext *cx, AdjTensor *root, AdjBackwardFlags flags)
{
  const AdjGradRoots roots = { .tensors = &root, .n = 1 };

  if (!adj_backward (cx, &roots, NULL, 0, flags))
    {
      g_autoptr (GError) error = NULL;

      adj_context_take_error (cx, &error);
      g_error ("backward: %s", error->message);
    }
}

double
tape_at (AdjTensor *tensor, gint64 index)
{
  g_autoptr (AdjTensorData) data = NULL;

  g_assert_nonnull (tensor);
  data = adj_tensor_snapshot (tensor);
  return adj_tensor_data_get_double (data, index);
}

void
tape_assert_error (AdjContext *cx, AdjError code, const char *text)
{
  g_autoptr (GError) error = NULL;

  g_assert_true (adj_context_take_error (cx, &error));
  g_assert_true (g_error_matches (error, ADJ_ERROR, (gint) code));
  if (strstr (error->message, text) == NULL)
    g_error ("'%s' is not in: %s", text, error->message);
}
