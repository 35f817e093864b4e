/* SPDX-License-Identifier: MIT */

/* Numbers that a Python function writes out as a tensor: torch.tensor ([0.54, 0.46]). */

#include "ops/adj-op-id.h"
#include "rules/adj-apply.h"
#include "rules/composite-private.h"
#include "tensor/adj-element.h"

static AdjElement
element_of (const AdjValue *value)
{
  if (value->kind == ADJ_VALUE_FLOAT)
    return (AdjElement){ .real = value->number };
  return (AdjElement){ .is_integer = TRUE,
                       .integer = value->kind == ADJ_VALUE_BOOL ? value->boolean : value->integer,
                       .real = (double) value->integer };
}

/* args: a number or a list of them, and a dtype */
gboolean
rule_literal (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out)
{
  gboolean is_list = adj_value_is_container (&args[0]);
  const AdjValue *numbers = is_list ? args[0].items : &args[0];
  gint64 count = is_list ? args[0].n : 1;
  AdjDType dtype =
      args[1].kind == ADJ_VALUE_DTYPE ? args[1].dtype : adj_context_get_default_dtype (call->cx);
  AdjTensorMeta meta = { .dtype = dtype, .device = ADJ_CPU, .has_strides = TRUE };
  gsize width = adj_dtype_info (dtype)->n_bytes;
  g_autoptr (AdjTensorData) data = NULL;
  g_autoptr (GBytes) bytes = NULL;
  guint8 *store = g_malloc0 (MAX (width * (gsize) count, 1));
  AdjTensor *constant;

  for (gint64 i = 0; i < count; i++)
    adj_element_store (dtype, store + (gsize) i * width, element_of (&numbers[i]));
  bytes = g_bytes_new_take (store, width * (gsize) count);
  adj_shape_init_ints (&meta.shape, is_list ? 1 : 0, &count);
  data = adj_tensor_data_new (&meta, bytes, NULL);
  if (data == NULL)
    return rule_call_fail (call, ADJ_ERROR_UNSUPPORTED, "has no constants of %s",
                           adj_dtype_info (dtype)->torch_name);
  constant = adj_scope_add (call->cx, adj_tensor_new_from_data (data));
  constant = ADJ_APPLY (call->cx, ADJ_OP_lift_fresh_copy, ADJ_TENSOR (constant));
  *out = ADJ_TENSOR (constant);
  return constant != NULL;
}
