/* SPDX-License-Identifier: MIT */

/* Python attributes of tensors, and methods that return sizes. */

#include <string.h>

#include "call/adj-constant.h"
#include "interpreter/builtins-private.h"
#include "ir/adj-value-internal.h"
#include "ops/adj-op-id.h"
#include "ops/adj-packet.h"
#include "rules/adj-apply.h"

static const AdjTensorMeta *
meta_of (const AdjValue *value)
{
  return adj_tensor_get_meta (value->tensor);
}

static AdjValue
list_sizes (const AdjSize *sizes, guint n)
{
  AdjValue list = { .kind = ADJ_VALUE_TUPLE, .n = n };

  list.items = g_new0 (AdjValue, MAX (n, 1));
  for (guint i = 0; i < n; i++)
    list.items[i] = adj_value_from_size (sizes[i]);
  return list;
}

/* Returns all of @sizes, or the one of the argument `dim`. */
static gboolean
give_sizes (AdjContext *cx,
            const AdjSize *sizes,
            const AdjValue *args,
            guint n_args,
            const AdjValue *kwargs,
            AdjValue *out)
{
  const AdjShape *shape = &meta_of (&args[0])->shape;
  const AdjValue *dim = n_args > 1 ? &args[1] : adj_value_find_member (kwargs, "dim");
  gint at;

  if (dim == NULL || dim->kind == ADJ_VALUE_NONE)
    {
      *out = list_sizes (sizes, shape->rank);
      return TRUE;
    }
  at = dim->kind == ADJ_VALUE_INT ? adj_shape_wrap_dim (shape, dim->integer) : -1;
  if (at < 0 || (guint) at >= shape->rank)
    return adj_builtin_fail (cx, "the tensor has no such dimension");
  *out = adj_value_from_size (sizes[at]);
  return TRUE;
}

#define READER(word)                                                                               \
  static gboolean read_##word (AdjContext *cx, const AdjValue *args, guint n_args,                 \
                               const AdjValue *kwargs, AdjValue *out)

READER (size) { return give_sizes (cx, meta_of (&args[0])->shape.size, args, n_args, kwargs, out); }

READER (stride)
{
  return give_sizes (cx, meta_of (&args[0])->shape.stride, args, n_args, kwargs, out);
}

READER (dim)
{
  *out = ADJ_INT (meta_of (&args[0])->shape.rank);
  return TRUE;
}

READER (numel)
{
  *out = adj_value_from_size (
      adj_shape_numel (&meta_of (&args[0])->shape, adj_context_get_symbols (cx)));
  return TRUE;
}

READER (storage_offset)
{
  *out = adj_value_from_size (meta_of (&args[0])->shape.offset);
  return TRUE;
}

READER (length)
{
  if (meta_of (&args[0])->shape.rank == 0)
    return adj_builtin_fail (cx, "a tensor without dimensions has no length");
  *out = adj_value_from_size (meta_of (&args[0])->shape.size[0]);
  return TRUE;
}

READER (element_size)
{
  *out = ADJ_INT (adj_dtype_info (meta_of (&args[0])->dtype)->n_bytes);
  return TRUE;
}

READER (is_floating_point)
{
  *out = ADJ_BOOL (adj_dtype_is_floating (meta_of (&args[0])->dtype));
  return TRUE;
}

READER (is_complex)
{
  *out = ADJ_BOOL (adj_dtype_info (meta_of (&args[0])->dtype)->category == ADJ_CATEGORY_COMPLEX);
  return TRUE;
}

READER (is_contiguous)
{
  *out =
      ADJ_BOOL (adj_shape_is_contiguous (&meta_of (&args[0])->shape, adj_context_get_symbols (cx)));
  return TRUE;
}

READER (dtype)
{
  *out = ADJ_DTYPE (meta_of (&args[0])->dtype);
  return TRUE;
}

READER (device)
{
  *out = (AdjValue){ .kind = ADJ_VALUE_DEVICE, .device = meta_of (&args[0])->device };
  return TRUE;
}

READER (layout)
{
  *out = (AdjValue){ .kind = ADJ_VALUE_LAYOUT, .layout = ADJ_LAYOUT_STRIDED };
  return TRUE;
}

READER (is_cuda)
{
  *out = ADJ_BOOL (meta_of (&args[0])->device.type == ADJ_DEVICE_CUDA);
  return TRUE;
}

READER (requires_grad)
{
  *out = ADJ_BOOL (adj_tensor_get_requires_grad (args[0].tensor));
  return TRUE;
}

READER (item) { return adj_unbacked_read (cx, args[0].tensor, "aten::item", out); }

static const AdjBuiltin methods[] = {
  { "item", read_item },
  { "size", read_size },
  { "stride", read_stride },
  { "dim", read_dim },
  { "ndimension", read_dim },
  { "numel", read_numel },
  { "nelement", read_numel },
  { "storage_offset", read_storage_offset },
  { "__len__", read_length },
  { "element_size", read_element_size },
  { "is_floating_point", read_is_floating_point },
  { "is_complex", read_is_complex },
  { "is_contiguous", read_is_contiguous },
  { "new_tensor", adj_builtin_new_tensor },
};

static const AdjBuiltin attributes[] = {
  { "shape", read_size },
  { "ndim", read_dim },
  { "dtype", read_dtype },
  { "device", read_device },
  { "layout", read_layout },
  { "is_cuda", read_is_cuda },
  { "requires_grad", read_requires_grad },
  { "itemsize", read_element_size },
};

/* Attributes that call an operator. */
static const struct
{
  const char *name;
  AdjOpId op;
} views[] = {
  { "T", ADJ_OP_numpy_T },  { "mT", ADJ_OP_mT },       { "H", ADJ_OP_adjoint },
  { "mH", ADJ_OP_adjoint }, { "data", ADJ_OP_detach }, { "real", ADJ_OP_real },
  { "imag", ADJ_OP_imag },
};

static const AdjBuiltin *
find (const AdjBuiltin *table, guint n, const char *name)
{
  for (guint i = 0; i < n; i++)
    if (strcmp (table[i].target, name) == 0)
      return &table[i];
  return NULL;
}

const AdjBuiltin *
adj_builtin_find_method (const char *name)
{
  return find (methods, G_N_ELEMENTS (methods), name);
}

gboolean
adj_builtin_item (
    AdjContext *cx, const AdjValue *args, guint n_args, const AdjValue *kwargs, AdjValue *out)
{
  if (n_args != 1 || args[0].kind != ADJ_VALUE_TENSOR)
    return adj_builtin_fail (cx, "_local_scalar_dense takes a tensor");
  return adj_unbacked_read (cx, args[0].tensor, "aten::_local_scalar_dense", out);
}

gboolean
adj_builtin_getattr (
    AdjContext *cx, const AdjValue *args, guint n_args, const AdjValue *kwargs, AdjValue *out)
{
  const AdjBuiltin *attribute;
  AdjTensor *tensor;

  if (n_args != 2 || args[0].kind != ADJ_VALUE_TENSOR || args[1].kind != ADJ_VALUE_STRING)
    return adj_builtin_fail (cx, "getattr reads a named attribute of a tensor");
  attribute = find (attributes, G_N_ELEMENTS (attributes), args[1].text);
  if (attribute != NULL)
    return attribute->call (cx, args, 1, NULL, out);
  for (guint i = 0; i < G_N_ELEMENTS (views); i++)
    if (strcmp (views[i].name, args[1].text) == 0)
      {
        tensor = ADJ_APPLY (cx, views[i].op, args[0]);
        *out = ADJ_TENSOR (adj_keep (tensor));
        return tensor != NULL;
      }
  return adj_builtin_fail (cx, "Adjoint knows no attribute '%s' of a tensor", args[1].text);
}
