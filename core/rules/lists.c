/* SPDX-License-Identifier: MIT */
/* Builtins of composite operators: lists of sizes, dimensions and numbers. */

#include <math.h>
#include <string.h>

#include "ops/adj-op-id.h"
#include "rules/adj-apply.h"
#include "rules/composite-private.h"

gboolean
rule_wrapped (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out)
{
  *out =
      ADJ_INT (rule_wrapped_dim (call, rule_int_of (call, &args[0]), rule_int_of (call, &args[1])));
  return TRUE;
}

gboolean
rule_length (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out)
{
  *out = ADJ_INT (adj_value_is_container (&args[0]) ? args[0].n : 1);
  return TRUE;
}

gboolean
rule_part (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out)
{
  gint64 length = adj_value_is_container (&args[0]) ? args[0].n : 0;
  gint64 start = rule_int_of (call, &args[1]);
  gint64 end = n > 2 ? rule_int_of (call, &args[2]) : length;

  start = CLAMP (start < 0 ? start + length : start, 0, length);
  end = CLAMP (end < 0 ? end + length : end, start, length);
  *out = (AdjValue){ .kind = ADJ_VALUE_LIST, .n = (guint) (end - start) };
  out->items = length > 0 ? args[0].items + start : NULL;
  return TRUE;
}

gboolean
rule_joined (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out)
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

gboolean
rule_product (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out)
{
  AdjSize sizes[ADJ_MAX_RANK], product = ADJ_SIZE (1);
  guint count = rule_sizes_given (call, &args[0], sizes);

  for (guint i = 0; i < count; i++)
    product = adj_size_mul (rule_symbols (call), product, sizes[i]);
  *out = adj_value_from_size (product);
  return TRUE;
}

gboolean
rule_strides_of (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out)
{
  AdjSize sizes[ADJ_MAX_RANK], strides[ADJ_MAX_RANK], stride = ADJ_SIZE (1);
  guint rank = rule_sizes_given (call, &args[0], sizes);

  for (guint i = rank; i-- > 0;)
    {
      strides[i] = stride;
      stride = adj_size_mul (rule_symbols (call), stride, sizes[i]);
    }
  return rule_give_sizes (call, strides, rank, out);
}

gboolean
rule_repeated (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out)
{
  gint64 count = rule_int_of (call, &args[1]);
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

gboolean
rule_reshaped (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out)
{
  AdjValue contiguous, eager;

  if (!rule_is_contiguous (call, args, 1, &contiguous) || !rule_is_eager (call, args, 1, &eager))
    return FALSE;
  if (!contiguous.boolean && eager.boolean)
    return rule_reshape_alias (call, args, n, out);
  return rule_give (out, rule_reshape (call, args[0].tensor, &args[1]));
}

gboolean
rule_reshape_alias (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out)
{
  AdjTensor *tensor = args[0].tensor;
  AdjSize wanted[ADJ_MAX_RANK];
  guint rank = rule_sizes_given (call, &args[1], wanted);
  AdjShape shape;
  AdjValue given;

  if (!adj_shape_view (rule_shape_given (call, &args[0]), rule_symbols (call), wanted, rank, &shape,
                       NULL))
    return rule_give (out, rule_reshape (call, tensor, &args[1]));
  return rule_give_sizes (call, shape.stride, rank, &given) &&
         rule_give (
             out, ADJ_APPLY (call->cx, ADJ_OP__reshape_alias, ADJ_TENSOR (tensor), args[1], given));
}

gboolean
rule_inferred (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out)
{
  AdjSymbols *symbols = rule_symbols (call);
  AdjSize sizes[ADJ_MAX_RANK], known = ADJ_SIZE (1);
  guint rank = rule_sizes_given (call, &args[1], sizes);
  gint unknown = -1;

  for (guint i = 0; i < rank; i++)
    if (adj_size_is_int (sizes[i]) && sizes[i].word == -1 && unknown < 0)
      unknown = (gint) i;
    else
      known = adj_size_mul (symbols, known, sizes[i]);
  if (unknown >= 0 && (!adj_size_is_int (known) || known.word != 0))
    sizes[unknown] =
        adj_size_apply (symbols, ADJ_SIZE_FLOORDIV,
                        adj_shape_numel (rule_shape_given (call, &args[0]), symbols), known);
  return rule_give_sizes (call, sizes, rank, out);
}

gboolean
rule_moved (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out)
{
  AdjSize source[ADJ_MAX_RANK], destination[ADJ_MAX_RANK], order[ADJ_MAX_RANK];
  gint64 rank = rule_int_of (call, &args[0]);
  guint count = rule_sizes_given (call, &args[1], source);
  guint32 from = 0, to = 0;
  guint next = 0;

  if (rule_sizes_given (call, &args[2], destination) != count || rank < 0 || rank > ADJ_MAX_RANK)
    return rule_call_fail (call, ADJ_ERROR_SHAPE, "moves %u dimensions to others", count);
  for (guint i = 0; i < count; i++)
    {
      gint64 at = rule_wrapped_dim (call, destination[i].word, rank);

      order[at] = ADJ_SIZE (rule_wrapped_dim (call, source[i].word, rank));
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
  return rule_give_sizes (call, order, (guint) rank, out);
}

gboolean
rule_reversed (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out)
{
  AdjSize order[ADJ_MAX_RANK];
  guint rank = (guint) CLAMP (rule_int_of (call, &args[0]), 0, ADJ_MAX_RANK);

  for (guint i = 0; i < rank; i++)
    order[i] = ADJ_SIZE (rank - 1 - i);
  return rule_give_sizes (call, order, rank, out);
}

gboolean
rule_broadcast_sizes (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out)
{
  AdjSymbols *symbols = rule_symbols (call);
  AdjSize sizes[2][ADJ_MAX_RANK], result[ADJ_MAX_RANK];
  guint ranks[2] = { rule_sizes_given (call, &args[0], sizes[0]),
                     rule_sizes_given (call, &args[1], sizes[1]) };
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
  return rule_give_sizes (call, result, rank, out);
}

gboolean
rule_alternating (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out)
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
        out->items[i] = ADJ_INT (-rule_int_of (call, &args[0].items[i]));
    }
  return TRUE;
}

gboolean
rule_index_of (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out)
{
  AdjSize sizes[ADJ_MAX_RANK], wanted = ADJ_SIZE (rule_int_of (call, &args[1]));
  guint count = rule_sizes_given (call, &args[0], sizes);

  *out = ADJ_NONE;
  for (guint i = 0; i < count && out->kind == ADJ_VALUE_NONE; i++)
    if (adj_size_test (rule_symbols (call), ADJ_SIZE_EQ, sizes[i], wanted))
      *out = ADJ_INT (i);
  return TRUE;
}

gboolean
rule_interleaved (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out)
{
  AdjSize a[ADJ_MAX_RANK], b[ADJ_MAX_RANK], both[ADJ_MAX_RANK];
  guint count = MIN (rule_sizes_given (call, &args[0], a), rule_sizes_given (call, &args[1], b));

  if (2 * count > ADJ_MAX_RANK)
    return rule_call_fail (call, ADJ_ERROR_LIMIT, "needs a list of %u sizes", 2 * count);
  for (guint i = 0; i < count; i++)
    {
      both[2 * i] = a[i];
      both[2 * i + 1] = b[i];
    }
  return rule_give_sizes (call, both, 2 * count, out);
}

gboolean
rule_products (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out)
{
  AdjSize a[ADJ_MAX_RANK], b[ADJ_MAX_RANK];
  guint count = MIN (rule_sizes_given (call, &args[0], a), rule_sizes_given (call, &args[1], b));

  for (guint i = 0; i < count; i++)
    a[i] = adj_size_mul (rule_symbols (call), a[i], b[i]);
  return rule_give_sizes (call, a, count, out);
}

gboolean
rule_others (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out)
{
  AdjSize dims[ADJ_MAX_RANK], kept[ADJ_MAX_RANK];
  gint64 rank = MIN (rule_int_of (call, &args[0]), ADJ_MAX_RANK);
  guint count = rule_sizes_given (call, &args[1], dims), n_kept = 0;
  guint32 named = 0;

  for (guint i = 0; i < count; i++)
    named |= 1u << rule_wrapped_dim (call, dims[i].word, rank);
  for (guint i = 0; i < rank; i++)
    if (((named >> i) & 1) == 0)
      kept[n_kept++] = ADJ_SIZE (i);
  return rule_give_sizes (call, kept, n_kept, out);
}

gboolean
rule_span (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out)
{
  AdjSize numbers[ADJ_MAX_RANK];
  gint64 start = rule_int_of (call, &args[0]), end = rule_int_of (call, &args[1]);

  if (end - start > ADJ_MAX_RANK)
    return rule_call_fail (call, ADJ_ERROR_SHAPE, "counts from %" G_GINT64_FORMAT, start);
  for (gint64 i = start; i < end; i++)
    numbers[i - start] = ADJ_SIZE (i);
  return rule_give_sizes (call, numbers, (guint) MAX (end - start, 0), out);
}

gboolean
rule_picked (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out)
{
  AdjSize sizes[ADJ_MAX_RANK], dims[ADJ_MAX_RANK];
  guint rank = rule_sizes_given (call, &args[0], sizes),
        count = rule_sizes_given (call, &args[1], dims);

  for (guint i = 0; i < count; i++)
    dims[i] = rank > 0 ? sizes[rule_wrapped_dim (call, dims[i].word, rank)] : ADJ_SIZE (1);
  return rule_give_sizes (call, dims, count, out);
}

gboolean
rule_last_dims (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out)
{
  AdjSize dims[ADJ_MAX_RANK];
  gint64 rank = rule_int_of (call, &args[0]);
  gint64 count = CLAMP (rule_int_of (call, &args[1]), 0, MIN (rank, ADJ_MAX_RANK));

  for (gint64 i = 0; i < count; i++)
    dims[i] = ADJ_SIZE (rank - 1 - i);
  return rule_give_sizes (call, dims, (guint) count, out);
}

gboolean
rule_same_padding (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out)
{
  AdjSize weight[ADJ_MAX_RANK], dilation[ADJ_MAX_RANK];
  guint rank = rule_sizes_given (call, &args[0], weight),
        count = rule_sizes_given (call, &args[1], dilation);

  if (rank != count + 2)
    return rule_call_fail (call, ADJ_ERROR_SHAPE, "has a weight of %u dimensions", rank);
  for (guint i = 0; i < count; i++)
    {
      gint64 total = dilation[i].word * (weight[i + 2].word - 1);

      if (total % 2 != 0)
        return rule_call_fail (call, ADJ_ERROR_UNSUPPORTED, "pads one side more than the other");
      dilation[i] = ADJ_SIZE (total / 2);
    }
  return rule_give_sizes (call, dilation, count, out);
}

gboolean
rule_halves (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out)
{
  AdjSize sizes[ADJ_MAX_RANK];
  guint rank = rule_sizes_given (call, &args[0], sizes);

  for (guint i = 0; i < rank; i++)
    sizes[i] = adj_size_floordiv (rule_symbols (call),
                                  adj_size_add (rule_symbols (call), sizes[i], ADJ_SIZE (n > 1)),
                                  ADJ_SIZE (2));
  return rule_give_sizes (call, sizes, rank, out);
}

static gboolean
replace (AdjRuleCall *call, AdjValue *list, const AdjValue *index, const AdjValue *entry)
{
  if (index->kind != ADJ_VALUE_INT || index->integer < 0 || index->integer >= (gint64) list->n)
    return rule_call_fail (call, ADJ_ERROR_SHAPE, "there is no such place in the list");
  list->items[index->integer] = *entry;
  return TRUE;
}

gboolean
rule_replaced (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out)
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

gboolean
rule_enlarged (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out)
{
  const AdjShape *shape = rule_shape_given (call, &args[0]);
  AdjSize sizes[ADJ_MAX_RANK];

  if (!adj_value_is_container (&args[1]) || shape->rank != args[1].n + 2)
    return rule_call_fail (call, ADJ_ERROR_SHAPE, "needs a factor for each dimension");
  for (guint i = 0; i < args[1].n; i++)
    {
      gint64 hint = 0;
      double factor = args[1].items[i].kind == ADJ_VALUE_FLOAT
                          ? args[1].items[i].number
                          : (double) rule_int_of (call, &args[1].items[i]);

      adj_size_get_hint (rule_symbols (call), shape->size[2 + i], &hint);
      if (!(fabs (factor * (double) hint) < G_MAXINT32))
        return rule_call_fail (call, ADJ_ERROR_LIMIT, "cannot scale a size by %g", factor);
      sizes[i] = factor == floor (factor) ? adj_size_mul (rule_symbols (call), shape->size[2 + i],
                                                          ADJ_SIZE ((gint64) factor))
                                          : ADJ_SIZE ((gint64) ((double) hint * factor));
    }
  return rule_give_sizes (call, sizes, args[1].n, out);
}
