/* SPDX-License-Identifier: MIT */

/* Every view operator: replayed on another base it gives the view of that base, and its inverse
 * equals a write through an aliasing view. */

#include <glib.h>
#include <string.h>

#include "call/adj-op.h"
#include "ops/adj-op-id.h"
#include "ops/adj-op-table.h"
#include "rules/adj-apply.h"
#include "rules/adj-operators.h"
#include "rules/adj-view-chain.h"

typedef struct
{
  const char *target; /* without the prefix torch.ops. */
  guint rank;
  gint64 sizes[4];
  gboolean transposed; /* whether the first two dimensions of the base are transposed */
  const char *args;    /* arguments after self: "1, [2, -1], None, bool" */
} Case;

static const Case cases[] = {
  { "aten.view.default", 3, { 2, 3, 4 }, FALSE, "[6, -1]" },
  { "aten.view.default", 3, { 2, 3, 4 }, TRUE, "[3, 2, 2, 2]" },
  { "aten.view.dtype", 2, { 3, 4 }, FALSE, "i32" },
  { "aten.view.dtype", 2, { 3, 4 }, FALSE, "i16" },
  { "aten._unsafe_view.default", 2, { 2, 6 }, FALSE, "[3, 4]" },
  { "aten._reshape_alias.default", 3, { 2, 3, 4 }, FALSE, "[6, 4], [4, 1]" },
  { "aten.expand.default", 2, { 2, 3 }, FALSE, "[1, 2, -1]" },
  { "aten.permute.default", 3, { 2, 3, 4 }, FALSE, "[2, 0, -2]" },
  { "aten.transpose.int", 3, { 2, 3, 4 }, FALSE, "0, -1" },
  { "aten.transpose.int", 0, { 0 }, FALSE, "0, -1" },
  { "aten.t.default", 2, { 2, 3 }, FALSE, "" },
  { "aten.t.default", 1, { 3 }, FALSE, "" },
  { "aten.slice.Tensor", 2, { 5, 7 }, FALSE, "1, 1, 6, 2" },
  { "aten.slice.Tensor", 2, { 5, 7 }, TRUE, "-1, -3, 9223372036854775807" },
  { "aten.slice.Tensor", 2, { 5, 7 }, FALSE, "0, None, None" },
  { "aten.select.int", 3, { 2, 3, 4 }, FALSE, "1, -1" },
  { "aten.select.int", 2, { 3, 4 }, TRUE, "0, 2" },
  { "aten.squeeze.default", 4, { 1, 3, 1, 2 }, FALSE, "" },
  { "aten.squeeze.default", 2, { 2, 3 }, FALSE, "" },
  { "aten.squeeze.dim", 3, { 2, 1, 3 }, FALSE, "-2" },
  { "aten.squeeze.dim", 3, { 2, 1, 3 }, FALSE, "0" },
  { "aten.squeeze.dim", 0, { 0 }, FALSE, "0" },
  { "aten.squeeze.dims", 4, { 1, 3, 1, 1 }, FALSE, "[0, 1, -1]" },
  { "aten.squeeze.dims", 2, { 1, 3 }, FALSE, "[]" },
  { "aten.unsqueeze.default", 2, { 2, 3 }, FALSE, "-1" },
  { "aten.unsqueeze.default", 0, { 0 }, FALSE, "0" },
  { "aten.split.Tensor", 2, { 5, 3 }, FALSE, "2" },
  { "aten.split.Tensor", 2, { 5, 3 }, TRUE, "2, -1" },
  { "aten.split_with_sizes.default", 2, { 6, 3 }, FALSE, "[1, 3, 2], 0" },
  { "aten.unbind.int", 3, { 2, 3, 2 }, FALSE, "-2" },
  { "aten.diagonal.default", 2, { 3, 4 }, FALSE, "" },
  { "aten.diagonal.default", 3, { 3, 2, 4 }, FALSE, "-1, 2, 0" },
  { "aten.unfold.default", 2, { 3, 6 }, FALSE, "1, 2, 2" },
  { "aten.unfold.default", 2, { 3, 8 }, FALSE, "-1, 2, 3" },
  { "aten.unfold.default", 2, { 2, 2 }, FALSE, "-2, 1, 2" },
  { "aten.as_strided.default", 2, { 4, 4 }, FALSE, "[2, 2], [5, 2], 3" },
  { "aten.as_strided.default", 2, { 4, 4 }, FALSE, "[3], [4]" },
  { "aten.alias.default", 2, { 2, 3 }, FALSE, "" },
  { "aten.detach.default", 2, { 2, 3 }, TRUE, "" },
  { "aten.view_as_complex.default", 2, { 3, 2 }, FALSE, "" },
  { "aten.view_as_real.default", 2, { 2, 3 }, TRUE, "" },
  { "aten._conj.default", 2, { 2, 3 }, TRUE, "" },
  { "ao.wait_tensor.default", 2, { 2, 3 }, TRUE, "" },
};

/* -- arguments -- */

static void
put_word (const char *word, AdjValue *out)
{
  if (strcmp (word, "None") == 0)
    *out = ADJ_NONE;
  else if (strcmp (word, "i32") == 0)
    *out = ADJ_DTYPE (ADJ_DTYPE_I32);
  else if (strcmp (word, "i16") == 0)
    *out = ADJ_DTYPE (ADJ_DTYPE_I16);
  else
    *out = ADJ_INT (g_ascii_strtoll (word, NULL, 10));
}

/* Parses the arguments of a case, @text, after @self: a TUPLE that the caller clears. */
static AdjValue
make_args (const char *text, AdjTensor *self)
{
  AdjValue args[8], list[8];
  guint n = 1, n_list = 0;
  gboolean in_list = FALSE;

  args[0] = adj_value_copy (&ADJ_TENSOR (self));
  for (const char *at = text; *at != '\0';)
    {
      gsize length = strcspn (at, "[], ");
      g_autofree char *word = g_strndup (at, length);

      if (length > 0)
        put_word (word, in_list ? &list[n_list++] : &args[n++]);
      at += length;
      if (*at == '[')
        {
          in_list = TRUE;
          n_list = 0;
        }
      if (*at == ']')
        {
          in_list = FALSE;
          args[n++] = adj_value_new_items (ADJ_VALUE_LIST, list, n_list);
        }
      at += strspn (at, "[], ") > 0;
    }
  return adj_value_new_items (ADJ_VALUE_TUPLE, args, n);
}

/* -- tensors -- */

static AdjTensor *
apply (AdjContext *cx, const char *target, AdjTensor *self, AdjTensor *other)
{
  const AdjOp *op = adj_op_find (target);
  AdjValue items[] = { ADJ_TENSOR (self), ADJ_TENSOR (other) };
  AdjValue args = { .kind = ADJ_VALUE_TUPLE, .n = other != NULL ? 2 : 1, .items = items };
  AdjValue result;
  GError *error = NULL;

  adj_call (cx, op, &args, NULL, &result);
  adj_context_take_error (cx, &error);
  g_assert_no_error (error);
  return result.tensor;
}

/* Fills the base with @first, @first + 1, …: small integers, so that differences are exact. */
static AdjTensor *
make_base (AdjContext *cx, const Case *c, gint first)
{
  gboolean complex = g_strcmp0 (c->target, "aten.view_as_real.default") == 0 ||
                     g_strcmp0 (c->target, "aten._conj.default") == 0;
  AdjTensorMeta meta = { .dtype = complex ? ADJ_DTYPE_C64 : ADJ_DTYPE_F32,
                         .device = ADJ_CPU,
                         .has_strides = TRUE };
  AdjTensor *tensor;
  float *values;

  adj_shape_init_ints (&meta.shape, c->rank, c->sizes);
  tensor = adj_scope_add (cx, adj_tensor_new_empty (&meta, NULL, FALSE));
  values = adj_storage_write (adj_tensor_get_storage (tensor));
  for (gint i = 0; i < (complex ? 2 : 1) * adj_shape_numel (&meta.shape, NULL).word; i++)
    values[i] = (float) (first + i);
  if (c->transposed)
    tensor = ADJ_APPLY (cx, ADJ_OP_transpose_int, ADJ_TENSOR (tensor), ADJ_INT (0), ADJ_INT (1));
  return tensor;
}

static void
assert_same_values (AdjContext *cx, AdjTensor *a, AdjTensor *b)
{
  g_assert_true (adj_tensor_get_meta (a)->dtype == adj_tensor_get_meta (b)->dtype);
  g_assert_true (adj_shape_same_sizes (&adj_tensor_get_meta (a)->shape,
                                       &adj_tensor_get_meta (b)->shape, NULL));
  a = adj_apply_clone_contiguous (cx, a);
  b = adj_apply_clone_contiguous (cx, b);
  g_assert_cmpmem (adj_storage_read (adj_tensor_get_storage (a)),
                   adj_storage_get_n_bytes (adj_tensor_get_storage (a)),
                   adj_storage_read (adj_tensor_get_storage (b)),
                   adj_storage_get_n_bytes (adj_tensor_get_storage (b)));
}

/* Compares sizes, strides, offset and values. */
static void
assert_same_view (AdjContext *cx, AdjTensor *a, AdjTensor *b)
{
  AdjTensorMeta x = *adj_tensor_get_meta (a), y = *adj_tensor_get_meta (b);

  x.storage = y.storage = -1;
  g_assert_true (adj_tensor_meta_equal (&x, &y));
  assert_same_values (cx, a, b);
}

/* -- one case -- */

static AdjTensor *
view_of (AdjContext *cx, const Case *c, AdjTensor *base, guint part)
{
  g_autofree char *target = g_strdup_printf ("torch.ops.%s", c->target);
  g_auto (AdjValue) args = make_args (c->args, base);
  GError *error = NULL;
  AdjValue result;

  adj_call (cx, adj_op_find (target), &args, NULL, &result);
  adj_context_take_error (cx, &error);
  g_assert_no_error (error);
  if (result.kind == ADJ_VALUE_TENSOR)
    return part == 0 ? result.tensor : NULL;
  return part < result.n ? result.items[part].tensor : NULL;
}

static AdjViewChain *
chain_of (const Case *c, AdjTensor *base, guint part)
{
  g_autofree char *target = g_strdup_printf ("torch.ops.%s", c->target);
  g_auto (AdjValue) args = make_args (c->args, base);
  const AdjOp *op = adj_op_find (target);
  AdjValue bound[ADJ_MAX_ARGUMENTS];
  GError *error = NULL;

  adj_schema_bind (adj_op_get_schema (op), &args, NULL, bound, &error);
  g_assert_no_error (error);
  return adj_view_chain_append (NULL, op, bound, part);
}

static void
refuses_to_write (AdjContext *cx, AdjTensor *view, AdjTensor *values)
{
  AdjValue items[] = { ADJ_TENSOR (view), ADJ_TENSOR (values) };
  const AdjValue args = { .kind = ADJ_VALUE_TUPLE, .n = 2, .items = items };
  g_autoptr (GError) error = NULL;
  AdjValue result;

  g_assert_false (
      adj_call (cx, adj_op_find ("torch.ops.aten.copy_.default"), &args, NULL, &result));
  adj_context_take_error (cx, &error);
  g_assert_error (error, ADJ_ERROR, ADJ_ERROR_UNSUPPORTED);
}

/* Writing values through the inverse of @chain and through @view gives the same base. */
static void
check_write (AdjContext *cx, const AdjViewChain *chain, AdjTensor *base, AdjTensor *view)
{
  AdjTensor *values = ADJ_APPLY (cx, ADJ_OP_add_Tensor, ADJ_TENSOR (view), ADJ_INT (1000));
  AdjTensor *before = ADJ_APPLY (cx, ADJ_OP_clone, ADJ_TENSOR (base));
  AdjTensor *inverted;
  GError *error = NULL;

  inverted = adj_view_chain_invert (chain, cx, base, values);
  adj_context_take_error (cx, &error);
  g_assert_no_error (error);
  assert_same_values (cx, base, before);
  assert_same_values (cx, adj_view_chain_replay (chain, cx, inverted), values);
  if (adj_tensor_get_meta (view)->conjugate) /* the view has its own memory */
    return refuses_to_write (cx, view, values);
  apply (cx, "torch.ops.aten.copy_.default", view, values);
  assert_same_values (cx, inverted, base);
}

static void
check_case (gconstpointer data)
{
  const Case *c = data;
  g_autoptr (AdjContext) cx = adj_context_new ();
  AdjTensor *view;

  for (guint part = 0;; part++)
    {
      AdjTensor *base = make_base (cx, c, 1), *other = make_base (cx, c, 50);
      g_autoptr (AdjViewChain) chain = NULL;

      view = view_of (cx, c, base, part);
      if (view == NULL)
        break;
      chain = chain_of (c, base, part);
      assert_same_view (cx, adj_view_chain_replay (chain, cx, base), view);
      assert_same_view (cx, adj_view_chain_replay (chain, cx, other), view_of (cx, c, other, part));
      g_assert_cmpint (adj_view_chain_is_multi_output (chain), ==,
                       adj_op_get_schema (adj_view_chain_get_op (chain))->returns[0].type.is_list);
      check_write (cx, chain, base, view);
    }
}

static void
every_view_has_a_case (void)
{
  guint n = 0;

  for (guint i = 0; i < adj_ops_get_n (); i++)
    {
      const AdjOp *op = adj_ops_get (i);
      const char *target = adj_op_get_schema (op)->target;
      gboolean found = FALSE;

      if (!adj_op_is_view (op))
        {
          g_assert_true ((op->flags & ADJ_OP_COMPOSITE) != 0 ||
                         !adj_schema_is_view (adj_op_get_schema (op)));
          continue;
        }
      for (guint k = 0; k < G_N_ELEMENTS (cases); k++)
        found |= strcmp (target + strlen ("torch.ops."), cases[k].target) == 0;
      if (!found)
        g_error ("%s has no case", target);
      n++;
    }
  g_assert_cmpuint (n, >=, 20);
}

/* -- chains -- */

static AdjViewChain *
append (AdjViewChain *chain, AdjOpId op, gint64 a, gint64 b)
{
  const AdjValue args[] = { ADJ_NONE, ADJ_INT (a), ADJ_INT (b), ADJ_NONE, ADJ_INT (1) };

  return adj_view_chain_append (chain, adj_op (op), args, 0);
}

/* Steps are inverted in reverse order: x.transpose (0, 1)[1] */
static void
steps_are_turned_around_in_order (void)
{
  static const Case c = { NULL, 2, { 3, 4 }, FALSE, NULL };
  g_autoptr (AdjContext) cx = adj_context_new ();
  g_autoptr (AdjViewChain) transpose = append (NULL, ADJ_OP_transpose_int, 0, 1);
  g_autoptr (AdjViewChain) chain = append (transpose, ADJ_OP_select_int, 0, 1);
  AdjTensor *base = make_base (cx, &c, 0), *view;

  view = ADJ_APPLY (cx, ADJ_OP_transpose_int, ADJ_TENSOR (base), ADJ_INT (0), ADJ_INT (1));
  view = ADJ_APPLY (cx, ADJ_OP_select_int, ADJ_TENSOR (view), ADJ_INT (0), ADJ_INT (1));
  g_assert_cmpuint (adj_view_chain_get_n_steps (chain), ==, 2);
  g_assert_true (adj_view_chain_get_parent (chain) == transpose);
  assert_same_view (cx, adj_view_chain_replay (chain, cx, base), view);
  check_write (cx, chain, base, view);
}

static void
rest_of_a_chain (void)
{
  g_autoptr (AdjViewChain) transpose = append (NULL, ADJ_OP_transpose_int, 0, 1);
  g_autoptr (AdjViewChain) other = append (NULL, ADJ_OP_transpose_int, 0, 1);
  g_autoptr (AdjViewChain) chain = append (transpose, ADJ_OP_select_int, 0, 1);
  g_autoptr (AdjViewChain) rest = adj_view_chain_after (chain, transpose);
  g_autoptr (AdjViewChain) whole = adj_view_chain_after (chain, NULL);

  g_assert_cmpuint (adj_view_chain_get_n_steps (rest), ==, 1);
  g_assert_true (adj_view_chain_get_op (rest) == adj_op (ADJ_OP_select_int));
  g_assert_cmpuint (adj_view_chain_get_n_steps (whole), ==, 2);
  g_assert_null (adj_view_chain_after (chain, chain));
  g_assert_null (adj_view_chain_after (chain, other));
}

/* If a step has several results, views of one of them are multi-output views too. */
static void
multi_output_is_sticky (void)
{
  g_autoptr (AdjViewChain) unbind = append (NULL, ADJ_OP_unbind_int, 0, 0);
  g_autoptr (AdjViewChain) chain = append (unbind, ADJ_OP_alias, 0, 0);

  g_assert_true (adj_view_chain_is_multi_output (chain));
  g_assert_false (adj_view_chain_is_multi_output (NULL));
}

static void
late_as_strided_has_no_inverse (void)
{
  static const Case c = { "aten.as_strided.default", 2, { 4, 4 }, FALSE, "[2], [1], 0" };
  g_autoptr (AdjContext) cx = adj_context_new ();
  AdjTensor *base = make_base (cx, &c, 0);
  g_autoptr (AdjViewChain) first = append (NULL, ADJ_OP_alias, 0, 0);
  g_autoptr (AdjViewChain) lone = chain_of (&c, base, 0);
  g_autoptr (AdjViewChain) chain = NULL;
  g_autoptr (GError) error = NULL;
  AdjValue args[4];

  for (guint i = 0; i < G_N_ELEMENTS (args); i++)
    args[i] = *adj_view_chain_get_arg (lone, i);
  chain = adj_view_chain_append (first, adj_op (ADJ_OP_as_strided), args, 0);
  g_assert_false (adj_view_chain_has_late_as_strided (lone));
  g_assert_nonnull (adj_view_chain_replay (chain, cx, base));
  g_assert_null (adj_view_chain_invert (chain, cx, base, base));
  g_assert_true (adj_context_take_error (cx, &error));
  g_assert_error (error, ADJ_ERROR, ADJ_ERROR_UNSUPPORTED);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *path = g_strdup_printf ("/rules/view-chain/%u-%s", i, cases[i].target);

      g_test_add_data_func (path, &cases[i], check_case);
    }
  g_test_add_func ("/rules/view-chain/every-view-has-a-case", every_view_has_a_case);
  g_test_add_func ("/rules/view-chain/steps-in-order", steps_are_turned_around_in_order);
  g_test_add_func ("/rules/view-chain/rest", rest_of_a_chain);
  g_test_add_func ("/rules/view-chain/multi-output-is-sticky", multi_output_is_sticky);
  g_test_add_func ("/rules/view-chain/late-as-strided", late_as_strided_has_no_inverse);

  return g_test_run ();
}
