/* SPDX-License-Identifier: MIT */

/* Values that contain tensors, for custom operations, which take, save and give tensors only. */

#include "autograd/custom-private.h"

static gboolean
append_tensor (const AdjValue *leaf, gpointer data)
{
  if (leaf->kind == ADJ_VALUE_TENSOR)
    g_ptr_array_add (data, leaf->tensor);
  return TRUE;
}

GPtrArray *
custom_list_tensors (const AdjValue *values, guint n)
{
  GPtrArray *tensors = g_ptr_array_new ();

  for (guint i = 0; i < n; i++)
    adj_value_foreach (&values[i], append_tensor, tensors);
  return tensors;
}

static gboolean
number_leaf (const AdjValue *leaf, AdjValue *out, gpointer data)
{
  guint *next = data;

  *out = leaf->kind == ADJ_VALUE_TENSOR ? ADJ_NODE (((AdjNodeId){ (*next)++ }))
                                        : adj_value_copy (leaf);
  return TRUE;
}

AdjValue
custom_number_tensors (const AdjValue *value)
{
  AdjValue numbered;
  guint next = 0;

  adj_value_map (value, number_leaf, &next, &numbered);
  return numbered;
}

static gboolean
unpack_leaf (const AdjValue *leaf, AdjValue *out, gpointer data)
{
  AdjTensor *tensor;

  if (leaf->kind != ADJ_VALUE_NODE)
    {
      *out = adj_value_copy (leaf);
      return TRUE;
    }
  tensor = adj_custom_call_get_saved (data, leaf->node.index);
  *out = tensor != NULL ? ADJ_TENSOR (adj_tensor_ref (tensor)) : ADJ_NONE;
  return tensor != NULL;
}

gboolean
custom_unpack_tensors (AdjCustomCall *call, const AdjValue *numbered, AdjValue *out)
{
  return adj_value_map (numbered, unpack_leaf, call, out);
}

static gboolean
replace_leaf (const AdjValue *leaf, AdjValue *out, gpointer data)
{
  AdjTensor *const **next = data;

  *out = leaf->kind == ADJ_VALUE_TENSOR ? ADJ_TENSOR (adj_tensor_ref (*(*next)++))
                                        : adj_value_copy (leaf);
  return TRUE;
}

void
custom_replace_tensors (AdjValue *value, AdjTensor *const *tensors)
{
  AdjValue replaced;

  adj_value_map (value, replace_leaf, &tensors, &replaced);
  adj_value_clear (value);
  *value = replaced;
}
