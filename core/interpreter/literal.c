/* SPDX-License-Identifier: MIT */

/* torch.tensor ([[1.0, 2.0], …]): numbers of a program as a constant. */

#include "interpreter/builtins-private.h"
#include "ir/adj-value-internal.h"
#include "ops/adj-op-id.h"
#include "rules/adj-apply.h"
#include "tensor/adj-element.h"

#define MAX_NUMBERS (1 << 20)

typedef struct
{
  AdjContext *cx;
  gint64 size[ADJ_MAX_RANK];
  guint rank;
  GArray *numbers; /* of AdjElement */
  AdjDTypeCategory category;
} Literal;

/* Takes depth and sizes from the first entries. */
static gboolean
measure (Literal *literal, const AdjValue *value)
{
  for (; adj_value_is_container (value); value = &value->items[0])
    {
      if (literal->rank == ADJ_MAX_RANK)
        return adj_builtin_fail (literal->cx, "lists are nested too deeply");
      literal->size[literal->rank++] = value->n;
      if (value->n == 0)
        break;
    }
  return TRUE;
}

static gboolean
add_number (Literal *literal, const AdjValue *value)
{
  AdjElement element = { .is_integer = TRUE };
  AdjDTypeCategory category = ADJ_CATEGORY_INTEGER;

  if (value->kind == ADJ_VALUE_FLOAT)
    {
      element = (AdjElement){ .real = value->number };
      category = ADJ_CATEGORY_FLOAT;
    }
  else if (value->kind == ADJ_VALUE_BOOL)
    {
      element.integer = value->boolean;
      category = ADJ_CATEGORY_BOOL;
    }
  else if (value->kind == ADJ_VALUE_INT)
    element.integer = value->integer;
  else
    return adj_builtin_fail (literal->cx, "a tensor is made of numbers, not of %s",
                             adj_value_kind_name (value->kind));
  if (element.is_integer)
    element.real = (double) element.integer;
  if (literal->numbers->len == MAX_NUMBERS)
    return adj_builtin_fail (literal->cx, "too many numbers for a literal");
  literal->category = MAX (literal->category, category);
  g_array_append_val (literal->numbers, element);
  return TRUE;
}

static gboolean
add (Literal *literal, const AdjValue *value, guint depth)
{
  if (depth == literal->rank)
    return add_number (literal, value);
  if (!adj_value_is_container (value) || value->n != literal->size[depth])
    return adj_builtin_fail (literal->cx, "lists of different lengths make no tensor");
  for (guint i = 0; i < value->n; i++)
    if (!add (literal, &value->items[i], depth + 1))
      return FALSE;
  return TRUE;
}

static AdjDType
choose_dtype (const Literal *literal, const AdjValue *wanted)
{
  if (wanted != NULL && wanted->kind == ADJ_VALUE_DTYPE)
    return wanted->dtype;
  if (literal->numbers->len == 0 || literal->category == ADJ_CATEGORY_FLOAT)
    return adj_context_get_default_dtype (literal->cx);
  return literal->category == ADJ_CATEGORY_BOOL ? ADJ_DTYPE_BOOL : ADJ_DTYPE_I64;
}

static AdjTensor *
make (const Literal *literal, AdjDType dtype)
{
  AdjTensorMeta meta = { .dtype = dtype, .device = ADJ_CPU, .has_strides = TRUE };
  gsize width = adj_dtype_info (dtype)->n_bytes;
  g_autoptr (GBytes) bytes = NULL;
  g_autoptr (AdjTensorData) data = NULL;
  guint8 *store = g_malloc0 (MAX (width * literal->numbers->len, 1));

  for (guint i = 0; i < literal->numbers->len; i++)
    adj_element_store (dtype, store + i * width, g_array_index (literal->numbers, AdjElement, i));
  bytes = g_bytes_new_take (store, width * literal->numbers->len);
  adj_shape_init_ints (&meta.shape, literal->rank, literal->size);
  data = adj_tensor_data_new (&meta, bytes, NULL);
  return data != NULL ? adj_tensor_new_from_data (data) : NULL;
}

/* @dtype: (nullable): a DTYPE or NONE.  @out (transfer full). */
static gboolean
lift (AdjContext *cx, const AdjValue *numbers, const AdjValue *dtype, AdjValue *out)
{
  Literal literal = { .cx = cx, .category = ADJ_CATEGORY_BOOL };
  AdjTensor *constant = NULL;

  literal.numbers = g_array_new (FALSE, FALSE, sizeof (AdjElement));
  if (measure (&literal, numbers) && add (&literal, numbers, 0))
    constant = adj_scope_add (cx, make (&literal, choose_dtype (&literal, dtype)));
  if (constant != NULL)
    constant = ADJ_APPLY (cx, ADJ_OP_lift_fresh_copy, ADJ_TENSOR (constant));
  *out = ADJ_TENSOR (adj_keep (constant));
  g_array_unref (literal.numbers);
  return constant != NULL;
}

gboolean
adj_builtin_tensor (
    AdjContext *cx, const AdjValue *args, guint n_args, const AdjValue *kwargs, AdjValue *out)
{
  *out = ADJ_NONE;
  if (n_args != 1)
    return adj_builtin_fail (cx, "torch.tensor takes a number or a list of them");
  return lift (cx, &args[0], adj_value_find_member (kwargs, "dtype"), out);
}

/* x.new_tensor (numbers): of x's dtype. */
gboolean
adj_builtin_new_tensor (
    AdjContext *cx, const AdjValue *args, guint n_args, const AdjValue *kwargs, AdjValue *out)
{
  const AdjValue *dtype = adj_value_find_member (kwargs, "dtype");
  AdjValue own;

  *out = ADJ_NONE;
  if (n_args != 2 || args[0].kind != ADJ_VALUE_TENSOR)
    return adj_builtin_fail (cx, "new_tensor takes a number or a list of them");
  own = ADJ_DTYPE (adj_tensor_get_meta (args[0].tensor)->dtype);
  return lift (cx, &args[1], dtype != NULL && dtype->kind == ADJ_VALUE_DTYPE ? dtype : &own, out);
}

gboolean
adj_builtin_as_tensor (
    AdjContext *cx, const AdjValue *args, guint n_args, const AdjValue *kwargs, AdjValue *out)
{
  const AdjValue *dtype = adj_value_find_member (kwargs, "dtype");
  AdjTensor *tensor;

  if (n_args != 1 || args[0].kind != ADJ_VALUE_TENSOR)
    return adj_builtin_tensor (cx, args, n_args, kwargs, out);
  tensor = args[0].tensor;
  if (dtype != NULL && dtype->kind == ADJ_VALUE_DTYPE)
    tensor = ADJ_APPLY (
        cx, ADJ_OP_to_device, args[0],
        ((AdjValue){ .kind = ADJ_VALUE_DEVICE, .device = adj_tensor_get_meta (tensor)->device }),
        *dtype);
  *out = ADJ_TENSOR (tensor != NULL ? adj_keep (tensor) : NULL);
  return tensor != NULL;
}
