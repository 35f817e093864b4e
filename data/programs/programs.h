/* SPDX-License-Identifier: MIT */
#pragma once

#include <adjoint.h>
#include <string.h>

#include "wrappers/adj-wrappers.h"

G_BEGIN_DECLS

/* Shared by the programs of this folder.  Each is a lesson in one file, and can also be built as
 * a plugin: `adjoint run ./mlp.so:adj_program_mlp` equals `adjoint run mlp`.
 *
 * builtin-programs.h lists the programs. */

/* Appends the line "name: tensor([…])" to @out. */
static inline void
adj_program_print (AdjContext *cx, GString *out, const char *name, AdjTensor *tensor)
{
  g_autoptr (AdjTensorData) data = tensor != NULL ? adj_tensor_snapshot (tensor) : NULL;
  g_autofree char *text = data != NULL ? adj_tensor_data_print (data, 100) : NULL;

  g_string_append_printf (out, "%s: %s\n", name, text != NULL ? text : "none");
}

/* Makes a non-leaf from @leaf, whose gradient is asked for: it may be written. */
static inline AdjTensor *
adj_program_writable (AdjContext *cx, AdjProgramInputs *in, AdjTensor *leaf)
{
  adj_tensor_set_requires_grad (cx, leaf, TRUE);
  in->leaves[in->n_leaves++] = leaf;
  return adj_mul_scalar (cx, leaf, ADJ_INT (1));
}

/* Appends an object to the arguments. */
static inline void
adj_program_take_object (AdjProgramInputs *in, AdjObject *object)
{
  if (object != NULL)
    in->args[in->n_args++] = ADJ_OBJECT (object);
}

/* Calls a method of @object with @n tensors; returns its tensor, or %NULL if it returns none or
 * fails. */
static inline AdjTensor *
adj_program_call (
    AdjContext *cx, const AdjValue *object, const char *method, AdjTensor *const *args, guint n)
{
  AdjValue values[4], result;

  g_assert (n <= G_N_ELEMENTS (values));
  for (guint i = 0; i < n; i++)
    {
      if (args[i] == NULL)
        return NULL;
      values[i] = ADJ_TENSOR (args[i]);
    }
  if (!adj_object_call (cx, adj_object_from_opaque (object->object), method, values, n, NULL,
                        &result))
    return NULL;
  return result.kind == ADJ_VALUE_TENSOR ? result.tensor : NULL;
}

typedef enum
{
  ADJ_ARGUMENT_PLAIN,
  ADJ_ARGUMENT_LEAF,    /* a leaf whose gradient is asked for */
  ADJ_ARGUMENT_WRITTEN, /* made from such a leaf, so that it may be written */
} AdjArgumentKind;

/* Appends an argument. */
static inline void
adj_program_take (AdjContext *cx, AdjProgramInputs *in, AdjTensor *tensor, AdjArgumentKind kind)
{
  if (adj_context_has_error (cx))
    return;
  if (kind == ADJ_ARGUMENT_WRITTEN)
    tensor = adj_program_writable (cx, in, tensor);
  if (kind == ADJ_ARGUMENT_LEAF)
    {
      adj_tensor_set_requires_grad (cx, tensor, TRUE);
      in->leaves[in->n_leaves++] = tensor;
    }
  in->args[in->n_args++] = ADJ_TENSOR (tensor);
}

/* Returns @n tensors, borrowed, as the results of a function. */
static inline gboolean
adj_program_give (AdjContext *cx, AdjValue *result, guint n, ...)
{
  g_autofree AdjValue *items = g_new0 (AdjValue, n + 1);
  va_list list;

  if (adj_context_has_error (cx))
    return FALSE;
  va_start (list, n);
  for (guint i = 0; i < n; i++)
    items[i] = ADJ_TENSOR (adj_keep (va_arg (list, AdjTensor *)));
  va_end (list);
  *result = adj_value_new_items (ADJ_VALUE_TUPLE, items, n);
  return TRUE;
}

G_END_DECLS
