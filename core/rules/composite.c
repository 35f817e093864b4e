/* SPDX-License-Identifier: MIT */

/* Composite operators: taken apart as soon as they are called, so that no mode hears of them.
 * Their rules call the builtins below; ops/composite-builtins.inc says what each one is. */

#include <math.h>
#include <string.h>

#include "call/adj-op-internal.h"
#include "ops/adj-op-id.h"
#include "ops/adj-ops.h"
#include "rules/rule-arguments-private.h"
#include "rules/rule-private.h"
#include "tensor/adj-promotion.h"

/* -- arguments -- */

static AdjSymbols *
symbols_of (const AdjRuleCall *call)
{
  return adj_context_get_symbols (call->cx);
}

static const AdjShape *
shape_of (AdjRuleCall *call, const AdjValue *value)
{
  static const AdjShape neutral = { 0 };

  if (value->kind == ADJ_VALUE_TENSOR)
    return &adj_tensor_get_meta (value->tensor)->shape;
  rule_call_fail (call, ADJ_ERROR_SHAPE, "needs a tensor, not %s",
                  adj_value_kind_name (value->kind));
  return &neutral;
}

/* Entries of a LIST, or a lone number, into @out; returns how many. */
static guint
sizes_of (AdjRuleCall *call, const AdjValue *value, AdjSize *out)
{
  guint n = adj_value_is_container (value) ? value->n : 0;

  if (adj_value_get_size (value, &out[0]))
    return 1;
  if (n > ADJ_MAX_RANK)
    rule_call_fail (call, ADJ_ERROR_LIMIT, "has a list of %u sizes", n);
  n = MIN (n, ADJ_MAX_RANK);
  for (guint i = 0; i < n; i++)
    if (!adj_value_get_size (&value->items[i], &out[i]))
      {
        rule_call_fail (call, ADJ_ERROR_SHAPE, "needs sizes, not %s",
                        adj_value_kind_name (value->items[i].kind));
        out[i] = ADJ_SIZE (0);
      }
  return n;
}

static gint64
int_of (AdjRuleCall *call, const AdjValue *value)
{
  if (value->kind == ADJ_VALUE_INT)
    return value->integer;
  rule_call_fail (call, ADJ_ERROR_SHAPE, "needs an integer, not %s",
                  adj_value_kind_name (value->kind));
  return 0;
}

static gboolean
give_sizes (AdjRuleCall *call, const AdjSize *sizes, guint n, AdjValue *out)
{
  *out = adj_rule_list_sizes (call->arena, sizes, n);
  return TRUE;
}

static gint64
wrap (AdjRuleCall *call, gint64 dim, gint64 rank)
{
  gint64 bound = MAX (rank, 1);

  if (dim >= -bound && dim < bound)
    return dim < 0 ? dim + bound : dim;
  rule_call_fail (call, ADJ_ERROR_SHAPE,
                  "has %" G_GINT64_FORMAT
                  " dimensions, but is asked for dimension %" G_GINT64_FORMAT,
                  rank, dim);
  return 0;
}

/* -- about values -- */

static gboolean
builtin_rank (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out)
{
  *out = ADJ_INT (rule_meta_of (call, &args[0])->shape.rank);
  return TRUE;
}

static gboolean
builtin_is_tensor (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out)
{
  *out = ADJ_BOOL (args[0].kind == ADJ_VALUE_TENSOR);
  return TRUE;
}

static gboolean
builtin_is_list (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out)
{
  *out = ADJ_BOOL (args[0].kind == ADJ_VALUE_LIST || args[0].kind == ADJ_VALUE_TUPLE);
  return TRUE;
}

static gboolean
builtin_is_floating (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out)
{
  AdjDType dtype = ADJ_DTYPE_NONE;

  if (args[0].kind == ADJ_VALUE_TENSOR)
    dtype = adj_tensor_get_meta (args[0].tensor)->dtype;
  else if (args[0].kind == ADJ_VALUE_DTYPE)
    dtype = args[0].dtype;
  *out = ADJ_BOOL (adj_dtype_is_floating (dtype));
  return TRUE;
}

/* Contiguous when it is not given; PyTorch's numbers stand for formats too. */
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

static gboolean
builtin_is_contiguous (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out)
{
  const AdjShape *shape = shape_of (call, &args[0]);
  AdjMemoryFormat format = format_of (args, n, 1);

  if (format == ADJ_MEMORY_FORMAT_CHANNELS_LAST || format == ADJ_MEMORY_FORMAT_CHANNELS_LAST_3D)
    *out = ADJ_BOOL (adj_shape_is_channels_last (shape, symbols_of (call)));
  else
    *out = ADJ_BOOL (format == ADJ_MEMORY_FORMAT_PRESERVE ||
                     adj_shape_is_contiguous (shape, symbols_of (call)));
  return TRUE;
}

/* PyTorch's suggested memory format: by strides alone, dense or not. */
static gboolean
builtin_lies_by_channel (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out)
{
  static const guint8 inner_to_outer[] = { 1, 3, 2, 0 };
  const AdjShape *shape = shape_of (call, &args[0]);
  AdjSymbols *symbols = symbols_of (call);
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

static gboolean
builtin_keeps (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out)
{
  *out = ADJ_BOOL (TRUE);
  return n < 2 || args[1].kind == ADJ_VALUE_NONE || builtin_is_contiguous (call, args, n, out);
}

static gboolean
builtin_format (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out)
{
  *out = (AdjValue){ .kind = ADJ_VALUE_MEMORY_FORMAT, .format = format_of (args, n, 0) };
  return TRUE;
}

static gboolean
builtin_requires_grad (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out)
{
  *out = ADJ_BOOL (args[0].kind == ADJ_VALUE_TENSOR && adj_context_get_grad_enabled (call->cx) &&
                   adj_tensor_get_requires_grad (args[0].tensor));
  return TRUE;
}

static gboolean
builtin_same (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out)
{
  *out = ADJ_BOOL (adj_value_equal (&args[0], &args[1]));
  return TRUE;
}

static gboolean
builtin_is_on_cuda (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out)
{
  *out = ADJ_BOOL (adj_tensor_get_meta (args[0].tensor)->device.type == ADJ_DEVICE_CUDA);
  return TRUE;
}

static gboolean
builtin_is_plain (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out)
{
  const AdjShape *shape = shape_of (call, &args[0]);

  *out = ADJ_BOOL (shape->rank > 0 && adj_size_test (symbols_of (call), ADJ_SIZE_EQ,
                                                     shape->stride[shape->rank - 1], ADJ_SIZE (1)));
  return TRUE;
}

/* -- lists -- */

static gboolean
builtin_wrapped (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out)
{
  *out = ADJ_INT (wrap (call, int_of (call, &args[0]), int_of (call, &args[1])));
  return TRUE;
}

static gboolean
builtin_length (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out)
{
  *out = ADJ_INT (adj_value_is_container (&args[0]) ? args[0].n : 1);
  return TRUE;
}

static gboolean
builtin_part (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out)
{
  gint64 length = adj_value_is_container (&args[0]) ? args[0].n : 0;
  gint64 start = int_of (call, &args[1]);
  gint64 end = n > 2 ? int_of (call, &args[2]) : length;

  start = CLAMP (start < 0 ? start + length : start, 0, length);
  end = CLAMP (end < 0 ? end + length : end, start, length);
  *out = (AdjValue){ .kind = ADJ_VALUE_LIST, .n = (guint) (end - start) };
  out->items = length > 0 ? args[0].items + start : NULL;
  return TRUE;
}

static gboolean
builtin_joined (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out)
{
  guint total = 0;

  for (guint i = 0; i < n; i++)
    total += adj_value_is_container (&args[i]) ? args[i].n : 0;
  *out = (AdjValue){ .kind = ADJ_VALUE_LIST };
  out->items = adj_arena_new0 (call->arena, AdjValue, MAX (total, 1));
  for (guint i = 0; i < n; i++)
    for (guint k = 0; adj_value_is_container (&args[i]) && k < args[i].n; k++)
      out->items[out->n++] = args[i].items[k];
  return TRUE;
}

static gboolean
builtin_product (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out)
{
  AdjSize sizes[ADJ_MAX_RANK], product = ADJ_SIZE (1);
  guint count = sizes_of (call, &args[0], sizes);

  for (guint i = 0; i < count; i++)
    product = adj_size_mul (symbols_of (call), product, sizes[i]);
  *out = adj_value_from_size (product);
  return TRUE;
}

static gboolean
builtin_repeated (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out)
{
  gint64 count = int_of (call, &args[1]);
  AdjValue one = args[0];

  if (count < 0 || count > ADJ_MAX_RANK)
    return rule_call_fail (call, ADJ_ERROR_LIMIT, "needs a list of %" G_GINT64_FORMAT, count);
  if (adj_value_is_container (&one) && one.n != 1)
    {
      *out = one;
      return one.n == count || one.n == 0 ||
             rule_call_fail (call, ADJ_ERROR_SHAPE, "has %u entries for %" G_GINT64_FORMAT, one.n,
                             count);
    }
  if (adj_value_is_container (&one))
    one = one.items[0];
  *out = (AdjValue){ .kind = ADJ_VALUE_LIST, .n = (guint) count };
  out->items = adj_arena_new0 (call->arena, AdjValue, MAX (out->n, 1));
  for (guint i = 0; i < out->n; i++)
    out->items[i] = one;
  return TRUE;
}

static gboolean
builtin_inferred (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out)
{
  AdjSymbols *symbols = symbols_of (call);
  AdjSize sizes[ADJ_MAX_RANK], known = ADJ_SIZE (1);
  guint rank = sizes_of (call, &args[1], sizes);
  gint unknown = -1;

  for (guint i = 0; i < rank; i++)
    if (adj_size_is_int (sizes[i]) && sizes[i].word == -1 && unknown < 0)
      unknown = (gint) i;
    else
      known = adj_size_mul (symbols, known, sizes[i]);
  if (unknown >= 0 && (!adj_size_is_int (known) || known.word != 0))
    sizes[unknown] = adj_size_apply (symbols, ADJ_SIZE_FLOORDIV,
                                     adj_shape_numel (shape_of (call, &args[0]), symbols), known);
  return give_sizes (call, sizes, rank, out);
}

static gboolean
builtin_moved (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out)
{
  AdjSize source[ADJ_MAX_RANK], destination[ADJ_MAX_RANK], order[ADJ_MAX_RANK];
  gint64 rank = int_of (call, &args[0]);
  guint count = sizes_of (call, &args[1], source);
  guint32 from = 0, to = 0;
  guint next = 0;

  if (sizes_of (call, &args[2], destination) != count || rank < 0 || rank > ADJ_MAX_RANK)
    return rule_call_fail (call, ADJ_ERROR_SHAPE, "moves %u dimensions to others", count);
  for (guint i = 0; i < count; i++)
    {
      gint64 at = wrap (call, destination[i].word, rank);

      order[at] = ADJ_SIZE (wrap (call, source[i].word, rank));
      from |= 1u << order[at].word;
      to |= 1u << at;
    }
  for (guint i = 0; i < rank; i++)
    if (((to >> i) & 1) == 0)
      {
        while (((from >> next) & 1) != 0)
          next++;
        order[i] = ADJ_SIZE (next++);
      }
  return give_sizes (call, order, (guint) rank, out);
}

static gboolean
builtin_reversed (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out)
{
  AdjSize order[ADJ_MAX_RANK];
  guint rank = (guint) CLAMP (int_of (call, &args[0]), 0, ADJ_MAX_RANK);

  for (guint i = 0; i < rank; i++)
    order[i] = ADJ_SIZE (rank - 1 - i);
  return give_sizes (call, order, rank, out);
}

static gboolean
builtin_broadcast_sizes (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out)
{
  AdjSymbols *symbols = symbols_of (call);
  AdjSize sizes[2][ADJ_MAX_RANK], result[ADJ_MAX_RANK];
  guint ranks[2] = { sizes_of (call, &args[0], sizes[0]), sizes_of (call, &args[1], sizes[1]) };
  guint rank = MAX (ranks[0], ranks[1]);

  for (guint i = 0; i < rank; i++)
    {
      AdjSize a = i + ranks[0] < rank ? ADJ_SIZE (1) : sizes[0][i + ranks[0] - rank];
      AdjSize b = i + ranks[1] < rank ? ADJ_SIZE (1) : sizes[1][i + ranks[1] - rank];

      if (!adj_size_same (a, b) && !adj_size_test (symbols, ADJ_SIZE_EQ, a, ADJ_SIZE (1)) &&
          !adj_size_test (symbols, ADJ_SIZE_EQ, b, ADJ_SIZE (1)) &&
          !adj_size_test (symbols, ADJ_SIZE_EQ, a, b))
        return rule_call_fail (call, ADJ_ERROR_SHAPE, "cannot broadcast dimension %u", i);
      result[i] = adj_size_test (symbols, ADJ_SIZE_EQ, a, ADJ_SIZE (1)) ? b : a;
    }
  return give_sizes (call, result, rank, out);
}

static gboolean
builtin_alternating (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out)
{
  guint count = adj_value_is_container (&args[0]) ? args[0].n : 0;

  *out = (AdjValue){ .kind = ADJ_VALUE_LIST, .n = count };
  out->items = adj_arena_new0 (call->arena, AdjValue, MAX (count, 1));
  for (guint i = 0; i < count; i++)
    {
      out->items[i] = args[0].items[i];
      if (i % 2 == 0)
        continue;
      if (args[0].items[i].kind == ADJ_VALUE_FLOAT)
        out->items[i].number = -args[0].items[i].number;
      else
        out->items[i] = ADJ_INT (-int_of (call, &args[0].items[i]));
    }
  return TRUE;
}

/* -- others -- */

static gboolean
builtin_whole (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out)
{
  *out = args[0];
  if (args[0].kind == ADJ_VALUE_FLOAT && fabs (args[0].number) < 0x1p62)
    *out = ADJ_INT ((gint64) args[0].number);
  return TRUE;
}

static gboolean
builtin_sqrt_of (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out)
{
  *out = ADJ_FLOAT (
      sqrt (args[0].kind == ADJ_VALUE_FLOAT ? args[0].number : (double) int_of (call, &args[0])));
  return TRUE;
}

/* Whether the leading dimensions of the larger one of @args lie one after the other. */
static gboolean
builtin_folds (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out)
{
  AdjSymbols *symbols = symbols_of (call);
  const AdjShape *left = shape_of (call, &args[0]), *right = shape_of (call, &args[1]);
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

static gboolean
builtin_same_sizes (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out)
{
  *out = ADJ_BOOL (adj_shape_same_sizes (shape_of (call, &args[0]), shape_of (call, &args[1]),
                                         symbols_of (call)));
  return TRUE;
}

/* None where the list has no such number. */
static gboolean
builtin_index_of (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out)
{
  AdjSize sizes[ADJ_MAX_RANK], wanted = ADJ_SIZE (int_of (call, &args[1]));
  guint count = sizes_of (call, &args[0], sizes);

  *out = ADJ_NONE;
  for (guint i = 0; i < count && out->kind == ADJ_VALUE_NONE; i++)
    if (adj_size_test (symbols_of (call), ADJ_SIZE_EQ, sizes[i], wanted))
      *out = ADJ_INT (i);
  return TRUE;
}

static gboolean
builtin_interleaved (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out)
{
  AdjSize a[ADJ_MAX_RANK], b[ADJ_MAX_RANK], both[ADJ_MAX_RANK];
  guint count = MIN (sizes_of (call, &args[0], a), sizes_of (call, &args[1], b));

  if (2 * count > ADJ_MAX_RANK)
    return rule_call_fail (call, ADJ_ERROR_LIMIT, "needs a list of %u sizes", 2 * count);
  for (guint i = 0; i < count; i++)
    {
      both[2 * i] = a[i];
      both[2 * i + 1] = b[i];
    }
  return give_sizes (call, both, 2 * count, out);
}

static gboolean
builtin_products (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out)
{
  AdjSize a[ADJ_MAX_RANK], b[ADJ_MAX_RANK];
  guint count = MIN (sizes_of (call, &args[0], a), sizes_of (call, &args[1], b));

  for (guint i = 0; i < count; i++)
    a[i] = adj_size_mul (symbols_of (call), a[i], b[i]);
  return give_sizes (call, a, count, out);
}

static gboolean
builtin_others (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out)
{
  AdjSize dims[ADJ_MAX_RANK], kept[ADJ_MAX_RANK];
  gint64 rank = MIN (int_of (call, &args[0]), ADJ_MAX_RANK);
  guint count = sizes_of (call, &args[1], dims), n_kept = 0;
  guint32 named = 0;

  for (guint i = 0; i < count; i++)
    named |= 1u << wrap (call, dims[i].word, rank);
  for (guint i = 0; i < rank; i++)
    if (((named >> i) & 1) == 0)
      kept[n_kept++] = ADJ_SIZE (i);
  return give_sizes (call, kept, n_kept, out);
}

static gboolean
builtin_span (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out)
{
  AdjSize numbers[ADJ_MAX_RANK];
  gint64 start = int_of (call, &args[0]), end = int_of (call, &args[1]);

  if (end - start > ADJ_MAX_RANK)
    return rule_call_fail (call, ADJ_ERROR_SHAPE, "counts from %" G_GINT64_FORMAT, start);
  for (gint64 i = start; i < end; i++)
    numbers[i - start] = ADJ_SIZE (i);
  return give_sizes (call, numbers, (guint) MAX (end - start, 0), out);
}

static gboolean
builtin_picked (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out)
{
  AdjSize sizes[ADJ_MAX_RANK], dims[ADJ_MAX_RANK];
  guint rank = sizes_of (call, &args[0], sizes), count = sizes_of (call, &args[1], dims);

  for (guint i = 0; i < count; i++)
    dims[i] = rank > 0 ? sizes[wrap (call, dims[i].word, rank)] : ADJ_SIZE (1);
  return give_sizes (call, dims, count, out);
}

static gboolean
builtin_last_dims (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out)
{
  AdjSize dims[ADJ_MAX_RANK];
  gint64 rank = int_of (call, &args[0]);
  gint64 count = CLAMP (int_of (call, &args[1]), 0, MIN (rank, ADJ_MAX_RANK));

  for (gint64 i = 0; i < count; i++)
    dims[i] = ADJ_SIZE (rank - 1 - i);
  return give_sizes (call, dims, (guint) count, out);
}

static gboolean
builtin_same_padding (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out)
{
  AdjSize weight[ADJ_MAX_RANK], dilation[ADJ_MAX_RANK];
  guint rank = sizes_of (call, &args[0], weight), count = sizes_of (call, &args[1], dilation);

  if (rank != count + 2)
    return rule_call_fail (call, ADJ_ERROR_SHAPE, "has a weight of %u dimensions", rank);
  for (guint i = 0; i < count; i++)
    {
      gint64 total = dilation[i].word * (weight[i + 2].word - 1);

      if (total % 2 != 0)
        return rule_call_fail (call, ADJ_ERROR_UNSUPPORTED, "pads one side more than the other");
      dilation[i] = ADJ_SIZE (total / 2);
    }
  return give_sizes (call, dilation, count, out);
}

static gboolean
builtin_epsilon (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out)
{
  static const double epsilons[ADJ_N_DTYPES] = { [ADJ_DTYPE_F64] = 0x1p-52,
                                                 [ADJ_DTYPE_F32] = 0x1p-23,
                                                 [ADJ_DTYPE_F16] = 0x1p-10,
                                                 [ADJ_DTYPE_BF16] = 0x1p-7 };

  shape_of (call, &args[0]);
  if (args[0].kind == ADJ_VALUE_TENSOR)
    *out = ADJ_FLOAT (epsilons[adj_tensor_get_meta (args[0].tensor)->dtype]);
  return TRUE;
}

static gboolean
builtin_rounded (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out)
{
  shape_of (call, &args[1]);
  *out = args[0];
  if (args[0].kind == ADJ_VALUE_FLOAT && args[1].kind == ADJ_VALUE_TENSOR &&
      adj_tensor_get_meta (args[1].tensor)->dtype != ADJ_DTYPE_F64)
    *out = ADJ_FLOAT ((double) (float) args[0].number);
  return TRUE;
}

static AdjDTypeCategory
category_of (const AdjValue *number)
{
  if (number->kind == ADJ_VALUE_FLOAT)
    return ADJ_CATEGORY_FLOAT;
  return number->kind == ADJ_VALUE_BOOL ? ADJ_CATEGORY_BOOL : ADJ_CATEGORY_INTEGER;
}

static gboolean
builtin_number_dtype (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out)
{
  AdjPromotion promotion = ADJ_PROMOTION_INIT;

  for (guint i = 0; i < n; i++)
    adj_promotion_add_number (&promotion, category_of (&args[i]),
                              adj_context_get_default_dtype (call->cx));
  *out = ADJ_DTYPE (adj_promotion_result (&promotion));
  return TRUE;
}

static gboolean
builtin_number_like (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out)
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

static gboolean
builtin_einsum (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out)
{
  return rule_einsum (call, &args[0], &args[1], out);
}

static gboolean
builtin_fourier (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out)
{
  shape_of (call, &args[0]);
  return args[0].kind == ADJ_VALUE_TENSOR && rule_fourier (call, args, out);
}

static gboolean
builtin_multi_dot (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out)
{
  return rule_multi_dot (call, args, out);
}

static gboolean
builtin_dtype_of (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out)
{
  *out = ADJ_DTYPE (adj_dtype_from_torch_name (args[0].text));
  return TRUE;
}

static gboolean
builtin_halves (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out)
{
  AdjSize sizes[ADJ_MAX_RANK];
  guint rank = sizes_of (call, &args[0], sizes);

  for (guint i = 0; i < rank; i++)
    sizes[i] = adj_size_floordiv (symbols_of (call),
                                  adj_size_add (symbols_of (call), sizes[i], ADJ_SIZE (n > 1)),
                                  ADJ_SIZE (2));
  return give_sizes (call, sizes, rank, out);
}

static gboolean
replace (AdjRuleCall *call, AdjValue *list, const AdjValue *index, const AdjValue *entry)
{
  if (index->kind != ADJ_VALUE_INT || index->integer < 0 || index->integer >= (gint64) list->n)
    return rule_call_fail (call, ADJ_ERROR_SHAPE, "there is no such place in the list");
  list->items[index->integer] = *entry;
  return TRUE;
}

static gboolean
builtin_replaced (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out)
{
  *out = (AdjValue){ .kind = ADJ_VALUE_LIST, .n = args[0].n };
  out->items = adj_arena_new0 (call->arena, AdjValue, MAX (out->n, 1));
  memcpy (out->items, args[0].items, out->n * sizeof *out->items);
  if (!adj_value_is_container (&args[1]))
    return replace (call, out, &args[1], &args[2]);
  for (guint i = 0; i < args[1].n; i++)
    if (i >= args[2].n || !replace (call, out, &args[1].items[i], &args[2].items[i]))
      return rule_call_fail (call, ADJ_ERROR_SHAPE, "needs an entry for each place");
  return TRUE;
}

static gboolean
builtin_enlarged (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out)
{
  const AdjShape *shape = shape_of (call, &args[0]);
  AdjSize sizes[ADJ_MAX_RANK];

  if (!adj_value_is_container (&args[1]) || shape->rank != args[1].n + 2)
    return rule_call_fail (call, ADJ_ERROR_SHAPE, "needs a factor for each dimension");
  for (guint i = 0; i < args[1].n; i++)
    {
      gint64 hint = 0;
      double factor = args[1].items[i].kind == ADJ_VALUE_FLOAT
                          ? args[1].items[i].number
                          : (double) int_of (call, &args[1].items[i]);

      adj_size_get_hint (symbols_of (call), shape->size[2 + i], &hint);
      if (!(fabs (factor * (double) hint) < G_MAXINT32))
        return rule_call_fail (call, ADJ_ERROR_LIMIT, "cannot scale a size by %g", factor);
      sizes[i] = factor == floor (factor) ? adj_size_mul (symbols_of (call), shape->size[2 + i],
                                                          ADJ_SIZE ((gint64) factor))
                                          : ADJ_SIZE ((gint64) ((double) hint * factor));
    }
  return give_sizes (call, sizes, args[1].n, out);
}

static gboolean
builtin_resampled (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out)
{
  shape_of (call, &args[0]);
  return args[0].kind == ADJ_VALUE_TENSOR && rule_resample (call, args, out);
}

static gboolean
builtin_gridded (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out)
{
  return rule_meshgrid (call, args, out);
}

static gboolean
builtin_raised (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out)
{
  gboolean recorded = adj_context_get_grad_enabled (call->cx);
  AdjValue pair[] = { args[0], args[1] };
  gboolean done;

  adj_context_set_grad_enabled (call->cx, FALSE);
  done = adj_call (call->cx, adj_op_find ("torch.ops.aten.clamp_min_.default"),
                   &(AdjValue){ .kind = ADJ_VALUE_TUPLE, .n = 2, .items = pair }, NULL, out);
  adj_context_set_grad_enabled (call->cx, recorded);
  return done;
}

static gboolean
builtin_circled (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out)
{
  shape_of (call, &args[0]);
  return args[0].kind == ADJ_VALUE_TENSOR && rule_pad_circular (call, args, out);
}

static gboolean
builtin_spread (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out)
{
  const AdjShape *shape = shape_of (call, &args[0]);
  AdjShape wanted;

  wanted.rank = sizes_of (call, &args[1], wanted.size);
  *out = args[0];
  if (adj_shape_same_sizes (shape, &wanted, symbols_of (call)))
    return TRUE;
  *out = ADJ_TENSOR (ADJ_APPLY (call->cx, ADJ_OP_expand, args[0], args[1]));
  return out->tensor != NULL;
}

guint32
rule_composite_builtin_describes (const RuleBuiltin *builtin)
{
  return builtin->func == builtin_rank ? 1 << 0 : 0;
}
#define LEADS_TO(word)                                                                             \
  static gboolean builtin_##word (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out) \
  {                                                                                                \
    return rule_##word (call, args, out);                                                          \
  }

LEADS_TO (at_least)
LEADS_TO (flat_each)
LEADS_TO (cut_evenly)
LEADS_TO (cut_at)
LEADS_TO (differences)
LEADS_TO (literal)
LEADS_TO (mask_for)
LEADS_TO (unmasked)
LEADS_TO (sorted_dims)
LEADS_TO (prod_over)
LEADS_TO (spread_all)
LEADS_TO (recurrent)

static const RuleBuiltin rows[] = {
#define BUILTIN(word, help) { #word, builtin_##word },
#include "ops/composite-builtins.inc"
#undef BUILTIN
};

const RuleBuiltinTable rule_composite_builtins = { rows, G_N_ELEMENTS (rows) };

/* -- the call -- */

/* Numbers may stand for tensors on the right of arithmetic alone. */
static gboolean
check_tensors (const AdjOpCall *call)
{
  for (guint i = 0; i < call->schema->n_arguments; i++)
    {
      const AdjArgument *argument = &call->schema->arguments[i];

      if (argument->type.kind == ADJ_TYPE_KIND_TENSOR && !argument->type.is_list &&
          call->args[i].kind != ADJ_VALUE_TENSOR && call->args[i].kind != ADJ_VALUE_NONE &&
          strcmp (argument->name, "other") != 0)
        return adj_op_call_fail (call, "argument '%s' must be a tensor, not %s", argument->name,
                                 adj_value_kind_name (call->args[i].kind));
    }
  return TRUE;
}

gboolean
rule_decompose (AdjOpCall *call, AdjValue *result)
{
  AdjRuleCall rule = {
    .cx = call->cx,
    .rule = adj_rule_find (call->op, ADJ_RULE_DECOMPOSE),
    .args = call->args,
  };
  AdjValue value;
  gboolean done;

  if (rule.rule == NULL)
    return adj_op_call_fail_as (call, ADJ_ERROR_UNSUPPORTED, "has no decomposition");
  if (!check_tensors (call))
    return FALSE;

  adj_rule_call_init (&rule);
  done = adj_rule_call_eval (&rule, 0, &value) && !adj_context_has_error (call->cx);
  *result = done ? adj_value_copy (&value) : ADJ_NONE;
  adj_rule_call_clear (&rule);
  return done;
}
