/* SPDX-License-Identifier: MIT */
/* Functions in graphs of compiled autograd since PyTorch 2.7 other than backward nodes
 * (interpreter/SPEC.md §5.4): metadata of gradients, dynamic sizes, writes into views, backwards of
 * compiled functions, accumulation. */

#include "call/adj-mode.h"
#include "interpreter/builtins-private.h"
#include "ops/adj-op-id.h"
#include "rules/adj-apply.h"
#include "rules/adj-gradient.h"
#include "tensor/adj-dtype-internal.h"

/* unwrap_maybe_dynamic_int (size).  A dynamic size is passed as the second size of a tensor. */
gboolean
adj_builtin_unwrap_size (
    AdjContext *cx, const AdjValue *args, guint n_args, const AdjValue *kwargs, AdjValue *out)
{
  *out = ADJ_NONE;
  if (n_args != 1)
    return adj_builtin_fail (cx, "unwrap_maybe_dynamic_int takes a size");
  if (args[0].kind != ADJ_VALUE_TENSOR)
    *out = adj_value_copy (&args[0]);
  else if (adj_tensor_get_meta (args[0].tensor)->shape.rank == 2)
    *out = adj_value_from_size (adj_tensor_get_meta (args[0].tensor)->shape.size[1]);
  else
    return adj_builtin_fail (cx, "a dynamic size is passed as a tensor of two dimensions");
  return TRUE;
}

/* -- the form of gradients -- */

/* ((requires_grad, memory format, device, dtype, layout, pinned), sizes, subclass, dtype of the
 * gradient). */
static gboolean
read_form (AdjContext *cx, const AdjValue *value, AdjTensorMeta *out)
{
  const AdjValue *options =
      adj_value_is_container (value) && value->n >= 2 ? &value->items[0] : NULL;
  AdjSize sizes[ADJ_MAX_RANK];
  const AdjValue *list;

  if (options == NULL || !adj_value_is_container (options) || options->n != 6 ||
      options->items[2].kind != ADJ_VALUE_DEVICE || options->items[3].kind != ADJ_VALUE_INT ||
      !adj_value_is_container (&value->items[1]) || value->items[1].n > ADJ_MAX_RANK)
    return adj_builtin_fail (cx, "validate_outputs takes options and sizes of each gradient");
  list = &value->items[1];
  for (guint i = 0; i < list->n; i++)
    if (!adj_value_get_size (&list->items[i], &sizes[i]))
      return adj_builtin_fail (cx, "validate_outputs: a size must be an integer");
  *out = (AdjTensorMeta){ .device = options->items[2].device,
                          .dtype = adj_dtype_from_scalar_type (options->items[3].integer),
                          .layout = ADJ_LAYOUT_STRIDED,
                          .storage = -1 };
  if (out->dtype >= ADJ_N_DTYPES)
    return adj_builtin_fail (cx, "validate_outputs: %" G_GINT64_FORMAT " is no dtype that is known",
                             options->items[3].integer);
  adj_shape_init (&out->shape, adj_context_get_symbols (cx), list->n, sizes);
  return TRUE;
}

/* validate_outputs ([gradients], [forms]): converts each to the form that its edge expects. */
gboolean
adj_builtin_validate_outputs (
    AdjContext *cx, const AdjValue *args, guint n_args, const AdjValue *kwargs, AdjValue *out)
{
  GArray *items;
  gboolean done = TRUE;

  *out = ADJ_NONE;
  if (n_args < 2 || !adj_value_is_container (&args[0]) || !adj_value_is_container (&args[1]) ||
      args[0].n != args[1].n)
    return adj_builtin_fail (cx, "validate_outputs takes gradients and the form of each");
  items = adj_value_array_new ();
  for (guint i = 0; i < args[0].n && done; i++)
    {
      const AdjValue *grad = &args[0].items[i];
      AdjValue valid = ADJ_NONE;
      AdjTensorMeta form;

      if (grad->kind == ADJ_VALUE_TENSOR && args[1].items[i].kind != ADJ_VALUE_NONE)
        {
          done = read_form (cx, &args[1].items[i], &form);
          valid.tensor = done ? adj_gradient_validate (cx, "a node of the backward returned", i,
                                                       grad->tensor, &form)
                              : NULL;
          done = valid.tensor != NULL;
          valid = done ? ADJ_TENSOR (adj_tensor_ref (valid.tensor)) : ADJ_NONE;
        }
      else
        valid = adj_value_copy (grad);
      g_array_append_val (items, valid);
    }
  *out = adj_value_array_end (items, ADJ_VALUE_LIST);
  g_array_unref (items);
  if (!done)
    adj_value_clear (out);
  return done;
}

/* -- writes into views (CopySlices) -- */

static gboolean
give (AdjTensor *const *tensors, guint n, AdjValue *out)
{
  AdjValue items[3];

  for (guint i = 0; i < n; i++)
    items[i] = tensors[i] != NULL ? ADJ_TENSOR (adj_tensor_ref (tensors[i])) : ADJ_NONE;
  *out = adj_value_new_items (ADJ_VALUE_LIST, items, n);
  return TRUE;
}

/* copy_slices_prologue ([gradient], sizes, strides and offset of the base, those of the view):
 * returns the gradient of the base with its layout, the part that was written, and a copy of that
 * part. */
gboolean
adj_builtin_copy_slices_prologue (
    AdjContext *cx, const AdjValue *args, guint n_args, const AdjValue *kwargs, AdjValue *out)
{
  const gboolean fits =
      n_args == 7 && adj_value_is_container (&args[0]) && args[0].n == 1 &&
      (args[0].items[0].kind == ADJ_VALUE_TENSOR || args[0].items[0].kind == ADJ_VALUE_NONE);
  AdjTensor *parts[3] = { NULL };
  AdjSize of_base, of_view;

  *out = ADJ_NONE;
  if (!fits || !adj_value_get_size (&args[3], &of_base) || !adj_value_get_size (&args[6], &of_view))
    return adj_builtin_fail (cx,
                             "copy_slices_prologue takes a gradient, and how base and view lie");
  if (args[0].items[0].kind == ADJ_VALUE_NONE) /* undefined: so are all parts */
    return give (parts, 3, out);
  parts[0] = ADJ_APPLY (cx, ADJ_OP_new_empty_strided, args[0].items[0], args[1], args[2]);
  if (parts[0] == NULL ||
      ADJ_APPLY (cx, ADJ_OP_copy_, ADJ_TENSOR (parts[0]), args[0].items[0]) == NULL)
    return FALSE;
  parts[1] = ADJ_APPLY (
      cx, ADJ_OP_as_strided, ADJ_TENSOR (parts[0]), args[4], args[5],
      adj_value_from_size (adj_size_sub (adj_context_get_symbols (cx), of_view, of_base)));
  parts[2] = parts[1] != NULL ? adj_apply_clone_contiguous (cx, parts[1]) : NULL;
  return parts[2] != NULL && give (parts, 3, out);
}

/* copy_slices_epilogue (flags, gradient of the base, [gradients of the function], part): writes the
 * first of those into the part. */
gboolean
adj_builtin_copy_slices_epilogue (
    AdjContext *cx, const AdjValue *args, guint n_args, const AdjValue *kwargs, AdjValue *out)
{
  GArray *items;

  *out = ADJ_NONE;
  if (n_args != 4 || !adj_value_is_container (&args[0]) || !adj_value_is_container (&args[2]) ||
      args[2].n < args[0].n)
    return adj_builtin_fail (cx, "copy_slices_epilogue takes flags, a gradient, gradients, a part");
  if (args[0].n > 0 && args[0].items[0].boolean && args[2].items[0].kind == ADJ_VALUE_TENSOR &&
      ADJ_APPLY (cx, ADJ_OP_copy_, args[3], args[2].items[0]) == NULL)
    return FALSE;
  items = adj_value_array_new ();
  for (guint i = 0; i < args[0].n; i++)
    {
      const gboolean there = args[0].items[i].boolean && args[2].items[i].kind == ADJ_VALUE_TENSOR;
      const AdjValue *source = i == 0 ? &args[1] : &args[2].items[i];
      AdjValue item = there ? adj_value_copy (source) : ADJ_NONE;

      g_array_append_val (items, item);
    }
  *out = adj_value_array_end (items, ADJ_VALUE_LIST);
  g_array_unref (items);
  return TRUE;
}

/* -- backwards of compiled functions -- */

/* A backward graph was traced for a tangent without overlapping elements. */
static AdjValue
make_dense (AdjContext *cx, const AdjValue *tangent)
{
  AdjTensor *dense;

  if (tangent->kind != ADJ_VALUE_TENSOR ||
      adj_shape_is_dense (&adj_tensor_get_meta (tangent->tensor)->shape,
                          adj_context_get_symbols (cx)))
    return adj_value_copy (tangent);
  dense = adj_apply_clone_contiguous (cx, tangent->tensor);
  return dense != NULL ? ADJ_TENSOR (adj_tensor_ref (dense)) : ADJ_NONE;
}

/* call_aot_bwd_prologue ((saved tensors), [sizes], [objects], (gradients)): returns the inputs of
 * the backward graph, in order. */
gboolean
adj_builtin_aot_prologue (
    AdjContext *cx, const AdjValue *args, guint n_args, const AdjValue *kwargs, AdjValue *out)
{
  static const guint order[] = { 1, 0, 2, 3 };
  GArray *items;

  *out = ADJ_NONE;
  for (guint i = 0; i < n_args; i++)
    if (n_args != G_N_ELEMENTS (order) || !adj_value_is_container (&args[i]))
      return adj_builtin_fail (
          cx, "call_aot_bwd_prologue takes saved tensors, sizes, objects and gradients");
  for (guint i = 0; n_args > 0 && i < args[3].n; i++)
    if (args[3].items[i].kind == ADJ_VALUE_NONE)
      return adj_builtin_fail (cx,
                               "call_aot_bwd_prologue: gradient %u is not there, and only the "
                               "process knew what zeros would stand for it",
                               i);
  items = adj_value_array_new ();
  for (guint k = 0; k < G_N_ELEMENTS (order) && n_args > 0; k++)
    for (guint i = 0; i < args[order[k]].n; i++)
      {
        AdjValue item = order[k] == 3 ? make_dense (cx, &args[3].items[i])
                                      : adj_value_copy (&args[order[k]].items[i]);

        g_array_append_val (items, item);
      }
  *out = adj_value_array_end (items, ADJ_VALUE_LIST);
  g_array_unref (items);
  return !adj_context_has_error (cx);
}

/* -- leaves -- */

/* call_accumulate_grad (leaf, its old gradient, the added one, whether hooks follow): returns the
 * new gradient. */
gboolean
adj_builtin_call_accumulate (
    AdjContext *cx, const AdjValue *args, guint n_args, const AdjValue *kwargs, AdjValue *out)
{
  AdjTensor *sum;

  *out = ADJ_NONE;
  if (n_args != 4 || args[0].kind != ADJ_VALUE_TENSOR)
    return adj_builtin_fail (cx,
                             "call_accumulate_grad takes a leaf, its gradient, what is added to "
                             "it, and a flag");
  if (args[2].kind != ADJ_VALUE_TENSOR)
    {
      *out = adj_value_copy (&args[1]);
      return TRUE;
    }
  sum = args[1].kind == ADJ_VALUE_TENSOR ? ADJ_APPLY (cx, ADJ_OP_add_Tensor, args[1], args[2])
                                         : args[2].tensor;
  if (sum == NULL)
    return FALSE;
  *out = ADJ_TENSOR (adj_tensor_ref (sum));
  for (AdjMode *mode = adj_context_get_mode (cx); mode != NULL; mode = mode->below)
    if (mode->klass->accumulate != NULL)
      return mode->klass->accumulate (mode, cx, args[0].tensor, args[2].tensor);
  return TRUE;
}

/* ops.AccumulateGrad ([added gradient], leaf, its old gradient, flag): the same, in a list. */
gboolean
adj_builtin_accumulate_node (
    AdjContext *cx, const AdjValue *args, guint n_args, const AdjValue *kwargs, AdjValue *out)
{
  AdjValue given[4], sum;

  *out = ADJ_NONE;
  if (n_args != 4 || !adj_value_is_container (&args[0]) || args[0].n != 1)
    return adj_builtin_fail (cx,
                             "AccumulateGrad takes a list of one gradient, a leaf, its gradient "
                             "and a flag");
  given[0] = args[1];
  given[1] = args[2];
  given[2] = args[0].items[0];
  given[3] = args[3];
  if (!adj_builtin_call_accumulate (cx, given, 4, NULL, &sum))
    return FALSE;
  *out = adj_value_new_items (ADJ_VALUE_LIST, &sum, 1);
  return TRUE;
}
