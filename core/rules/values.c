/* SPDX-License-Identifier: MIT */
/* Builtins of composite operators: what tensors and numbers are. */

#include <math.h>

#include "call/adj-context-internal.h"
#include "call/adj-mode.h"
#include "call/adj-op-internal.h"
#include "ops/adj-op-id.h"
#include "rules/composite-private.h"
#include "tensor/adj-element.h"
#include "tensor/adj-promotion.h"

gboolean
rule_rank (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out)
{
  *out = ADJ_INT (rule_meta_of (call, &args[0])->shape.rank);
  return TRUE;
}

gboolean
rule_is_tensor (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out)
{
  *out = ADJ_BOOL (args[0].kind == ADJ_VALUE_TENSOR);
  return TRUE;
}

gboolean
rule_is_list (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out)
{
  *out = ADJ_BOOL (args[0].kind == ADJ_VALUE_LIST || args[0].kind == ADJ_VALUE_TUPLE);
  return TRUE;
}

gboolean
rule_is_floating (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out)
{
  AdjDType dtype = ADJ_DTYPE_NONE;

  if (args[0].kind == ADJ_VALUE_TENSOR)
    dtype = adj_tensor_get_meta (args[0].tensor)->dtype;
  else if (args[0].kind == ADJ_VALUE_DTYPE)
    dtype = args[0].dtype;
  *out = ADJ_BOOL (adj_dtype_is_floating (dtype));
  return TRUE;
}

static AdjMemoryFormat
format_of (const AdjValue *args, guint n, guint index)
{
  static const AdjMemoryFormat numbers[] = { ADJ_MEMORY_FORMAT_CONTIGUOUS,
                                             ADJ_MEMORY_FORMAT_PRESERVE,
                                             ADJ_MEMORY_FORMAT_CHANNELS_LAST,
                                             ADJ_MEMORY_FORMAT_CHANNELS_LAST_3D };

  if (index < n && args[index].kind == ADJ_VALUE_MEMORY_FORMAT)
    return args[index].format;
  if (index < n && args[index].kind == ADJ_VALUE_INT && args[index].integer >= 0 &&
      args[index].integer < (gint64) G_N_ELEMENTS (numbers))
    return numbers[args[index].integer];
  return ADJ_MEMORY_FORMAT_CONTIGUOUS;
}

gboolean
rule_is_contiguous (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out)
{
  const AdjShape *shape = rule_shape_given (call, &args[0]);
  AdjMemoryFormat format = format_of (args, n, 1);

  if (format == ADJ_MEMORY_FORMAT_CHANNELS_LAST || format == ADJ_MEMORY_FORMAT_CHANNELS_LAST_3D)
    *out = ADJ_BOOL (adj_shape_is_channels_last (shape, rule_symbols (call)));
  else
    *out = ADJ_BOOL (format == ADJ_MEMORY_FORMAT_PRESERVE ||
                     adj_shape_is_contiguous (shape, rule_symbols (call)));
  return TRUE;
}

gboolean
rule_lies_by_channel (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out)
{
  static const guint8 inner_to_outer[] = { 1, 3, 2, 0 };
  const AdjShape *shape = rule_shape_given (call, &args[0]);
  AdjSymbols *symbols = rule_symbols (call);
  AdjSize least = ADJ_SIZE (0);
  gboolean lies = shape->rank == 4 && !adj_size_is (symbols, shape->stride[1], 0);

  for (guint i = 0; lies && i < G_N_ELEMENTS (inner_to_outer); i++)
    {
      guint d = inner_to_outer[i];
      AdjSize stride = shape->stride[d];

      lies = !adj_size_is (symbols, shape->size[d], 0) &&
             adj_size_test (symbols, ADJ_SIZE_LE, least, stride) &&
             !(d == 0 && adj_size_test (symbols, ADJ_SIZE_EQ, least, shape->stride[1]));
      least = adj_size_is (symbols, shape->size[d], 1)
                  ? stride
                  : adj_size_mul (symbols, stride, shape->size[d]);
    }
  *out = ADJ_BOOL (lies);
  return TRUE;
}

gboolean
rule_keeps (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out)
{
  *out = ADJ_BOOL (TRUE);
  return n < 2 || args[1].kind == ADJ_VALUE_NONE || rule_is_contiguous (call, args, n, out);
}

gboolean
rule_format (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out)
{
  *out = (AdjValue){ .kind = ADJ_VALUE_MEMORY_FORMAT, .format = format_of (args, n, 0) };
  return TRUE;
}

gboolean
rule_requires_grad (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out)
{
  *out = ADJ_BOOL (args[0].kind == ADJ_VALUE_TENSOR && adj_context_get_grad_enabled (call->cx) &&
                   adj_tensor_get_requires_grad (args[0].tensor));
  return TRUE;
}

gboolean
rule_same (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out)
{
  *out = ADJ_BOOL (adj_value_equal (&args[0], &args[1]));
  return TRUE;
}

gboolean
rule_records_eagerly (AdjContext *cx, const AdjTensor *tensor)
{
  return adj_context_get_grad_enabled (cx) && adj_tensor_get_requires_grad (tensor) &&
         !adj_mode_is_traced (adj_context_get_mode (cx));
}

gboolean
rule_is_eager (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out)
{
  *out = ADJ_BOOL (args[0].kind == ADJ_VALUE_TENSOR &&
                   rule_records_eagerly (call->cx, args[0].tensor));
  return TRUE;
}

gboolean
rule_transformed (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out)
{
  const AdjMode *mode = adj_context_get_mode (call->cx);

  while (mode != NULL && !mode->klass->transforms)
    mode = mode->below;
  *out = ADJ_BOOL (mode != NULL);
  return TRUE;
}

gboolean
rule_is_on_cuda (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out)
{
  *out = ADJ_BOOL (adj_tensor_get_meta (args[0].tensor)->device.type == ADJ_DEVICE_CUDA);
  return TRUE;
}

gboolean
rule_is_plain (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out)
{
  const AdjShape *shape = rule_shape_given (call, &args[0]);

  *out = ADJ_BOOL (shape->rank > 0 && adj_size_test (rule_symbols (call), ADJ_SIZE_EQ,
                                                     shape->stride[shape->rank - 1], ADJ_SIZE (1)));
  return TRUE;
}

gboolean
rule_whole (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out)
{
  *out = args[0];
  if (args[0].kind == ADJ_VALUE_FLOAT && fabs (args[0].number) < 0x1p62)
    *out = ADJ_INT ((gint64) args[0].number);
  return TRUE;
}

gboolean
rule_sqrt_of (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out)
{
  *out = ADJ_FLOAT (sqrt (args[0].kind == ADJ_VALUE_FLOAT ? args[0].number
                                                          : (double) rule_int_of (call, &args[0])));
  return TRUE;
}

gboolean
rule_folds (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out)
{
  AdjSymbols *symbols = rule_symbols (call);
  const AdjShape *left = rule_shape_given (call, &args[0]),
                 *right = rule_shape_given (call, &args[1]);
  gboolean left_larger = left->rank >= right->rank;
  const AdjShape *large = left_larger ? left : right, *small = left_larger ? right : left;
  const AdjTensor *other = args[left_larger ? 1 : 0].tensor;
  gboolean folds = large->rank >= 3 && small->rank <= 2;

  if (folds && !(adj_context_get_grad_enabled (call->cx) && adj_tensor_get_requires_grad (other)))
    {
      folds = left->rank != 2;
      for (guint i = 0; folds && i + 2 < large->rank; i++)
        folds = adj_size_test (symbols, ADJ_SIZE_EQ, large->stride[i],
                               adj_size_mul (symbols, large->stride[i + 1], large->size[i + 1]));
    }
  *out = ADJ_BOOL (folds);
  return TRUE;
}

static const struct
{
  const char *release, *name;
} formulas[] = {
#define FORMULA(release, name) { release, name },
#include "ops/releases.inc"
};

gboolean
adj_rule_has_formula (AdjContext *cx, const char *name)
{
  const char *release = adj_context_get_release (cx);

  for (guint i = 0; i < G_N_ELEMENTS (formulas); i++)
    if (g_strcmp0 (name, formulas[i].name) == 0 && g_strcmp0 (release, formulas[i].release) == 0)
      return TRUE;
  return FALSE;
}

gboolean
rule_fact (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out)
{
  *out = ADJ_BOOL (adj_rule_has_formula (call->cx, args[0].text));
  return TRUE;
}

gboolean
rule_same_sizes (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out)
{
  *out = ADJ_BOOL (adj_shape_same_sizes (rule_shape_given (call, &args[0]),
                                         rule_shape_given (call, &args[1]), rule_symbols (call)));
  return TRUE;
}

/* The dtype of @tensor; of what runs in float64 for comparison, the one that the program has. */
static AdjDType
meant_dtype (AdjRuleCall *call, const AdjTensor *tensor)
{
  AdjDType dtype = adj_tensor_get_meta (tensor)->dtype;
  AdjDType meant = adj_context_get_narrow_dtype (call->cx);

  return dtype == ADJ_DTYPE_F64 && meant != ADJ_DTYPE_NONE ? meant : dtype;
}

gboolean
rule_epsilon (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out)
{
  static const double epsilons[ADJ_N_DTYPES] = { [ADJ_DTYPE_F64] = 0x1p-52,
                                                 [ADJ_DTYPE_F32] = 0x1p-23,
                                                 [ADJ_DTYPE_F16] = 0x1p-10,
                                                 [ADJ_DTYPE_BF16] = 0x1p-7 };

  rule_shape_given (call, &args[0]);
  if (args[0].kind == ADJ_VALUE_TENSOR)
    *out = ADJ_FLOAT (epsilons[meant_dtype (call, args[0].tensor)]);
  return TRUE;
}

gboolean
rule_rounded (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out)
{
  rule_shape_given (call, &args[1]);
  *out = args[0];
  if (args[0].kind == ADJ_VALUE_FLOAT && args[1].kind == ADJ_VALUE_TENSOR)
    {
      AdjDType dtype = meant_dtype (call, args[1].tensor);
      guint8 bytes[16];

      adj_element_store (dtype, bytes, (AdjElement){ .real = args[0].number });
      *out = ADJ_FLOAT (adj_element_load (dtype, bytes).real);
    }
  return TRUE;
}

static AdjDTypeCategory
category_of (const AdjValue *number)
{
  if (number->kind == ADJ_VALUE_FLOAT)
    return ADJ_CATEGORY_FLOAT;
  return number->kind == ADJ_VALUE_BOOL ? ADJ_CATEGORY_BOOL : ADJ_CATEGORY_INTEGER;
}

gboolean
rule_number_dtype (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out)
{
  AdjPromotion promotion = ADJ_PROMOTION_INIT;

  for (guint i = 0; i < n; i++)
    adj_promotion_add_number (&promotion, category_of (&args[i]),
                              adj_context_get_default_dtype (call->cx));
  *out = ADJ_DTYPE (adj_promotion_result (&promotion));
  return TRUE;
}

gboolean
rule_number_like (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out)
{
  AdjPromotion promotion = ADJ_PROMOTION_INIT;
  const AdjTensorMeta *meta;
  AdjValue words[6];

  if (args[1].kind != ADJ_VALUE_TENSOR)
    return rule_call_fail (call, ADJ_ERROR_SHAPE, "needs a tensor beside a number");
  meta = adj_tensor_get_meta (args[1].tensor);
  adj_promotion_add_tensor (&promotion, meta->dtype, meta->shape.rank);
  adj_promotion_add_number (&promotion, category_of (&args[0]),
                            adj_context_get_default_dtype (call->cx));
  words[0] = (AdjValue){ .kind = ADJ_VALUE_STRING, .n = 5, .text = "dtype" };
  words[1] = ADJ_DTYPE (adj_promotion_result (&promotion));
  words[2] = (AdjValue){ .kind = ADJ_VALUE_STRING, .n = 6, .text = "layout" };
  words[3] = (AdjValue){ .kind = ADJ_VALUE_LAYOUT, .layout = ADJ_LAYOUT_STRIDED };
  words[4] = (AdjValue){ .kind = ADJ_VALUE_STRING, .n = 6, .text = "device" };
  words[5] = (AdjValue){ .kind = ADJ_VALUE_DEVICE, .device = meta->device };
  return adj_call (call->cx, adj_op (ADJ_OP_scalar_tensor),
                   &(AdjValue){ .kind = ADJ_VALUE_TUPLE, .n = 1, .items = (AdjValue *) args },
                   &(AdjValue){ .kind = ADJ_VALUE_DICT, .n = 6, .items = words }, out);
}

gboolean
rule_dtype_of (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out)
{
  *out = ADJ_DTYPE (adj_dtype_from_torch_name (args[0].text));
  return TRUE;
}
