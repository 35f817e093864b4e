/* SPDX-License-Identifier: MIT */
/* The statements of tensor/SPEC.md §5, one test each.  Symbols are numbered s0, s1, … as in 2.6
 * and before. */

#include <string.h>

#include "adjoint.h"
#include "support/graphs.h"
#include "tensor/adj-symbols-internal.h"

static char *
print (const AdjSymbols *symbols, AdjSize size)
{
  GString *text = g_string_new (NULL);

  adj_size_print (symbols, size, text);
  return g_string_free (text, FALSE);
}

#define ASSERT_PRINTS(symbols, size, expected)                                                     \
  G_STMT_START                                                                                     \
  {                                                                                                \
    g_autofree char *got_ = print (symbols, size);                                                 \
    g_assert_cmpstr (got_, ==, expected);                                                          \
  }                                                                                                \
  G_STMT_END

static AdjSize
parse (AdjSymbols *symbols, const char *text)
{
  g_autoptr (GError) error = NULL;
  AdjSize size = { 0 };

  adj_size_parse (symbols, text, -1, &size, &error);
  g_assert_no_error (error);
  return size;
}

/* -- creation -- */

static void
test_static (void)
{
  g_autoptr (AdjSymbols) symbols = adj_symbols_new ();

  g_assert_cmpint (adj_symbols_add_size (symbols, ADJ_SIZES_STATIC, 5, NULL).word, ==, 5);
  g_assert_cmpuint (adj_symbols_get_n (symbols), ==, 0);
}

static void
test_duck (void)
{
  g_autoptr (AdjSymbols) symbols = adj_symbols_new ();
  AdjSize a = adj_symbols_add_size (symbols, ADJ_SIZES_DUCK, 5, "L['x'].size()[0]");
  AdjSize b = adj_symbols_add_size (symbols, ADJ_SIZES_DUCK, 7, NULL);
  AdjSize c = adj_symbols_add_size (symbols, ADJ_SIZES_DUCK, 5, NULL);
  const AdjSymbol *s0 = adj_symbols_find (symbols, "s0");

  ASSERT_PRINTS (symbols, a, "s0");
  ASSERT_PRINTS (symbols, b, "s1");
  g_assert_true (adj_size_same (a, c));
  g_assert_cmpint (s0->hint, ==, 5);
  g_assert_cmpint (s0->min, ==, 2);
  g_assert_cmpint (s0->max, ==, G_MAXINT64);
  g_assert_cmpstr (s0->source, ==, "L['x'].size()[0]");
  g_assert_cmpint (adj_symbols_add_size (symbols, ADJ_SIZES_DUCK, 0, NULL).word, ==, 0);
  g_assert_cmpint (adj_symbols_add_size (symbols, ADJ_SIZES_DUCK, 1, NULL).word, ==, 1);
}

static void
test_dynamic (void)
{
  g_autoptr (AdjSymbols) symbols = adj_symbols_new ();
  AdjSize a = adj_symbols_add_size (symbols, ADJ_SIZES_DYNAMIC, 5, NULL);
  AdjSize b = adj_symbols_add_size (symbols, ADJ_SIZES_DYNAMIC, 5, NULL);

  g_assert_false (adj_size_same (a, b));
  g_assert_cmpint (adj_symbols_find (symbols, "s1")->min, ==, 2);
  g_assert_cmpint (adj_symbols_add_size (symbols, ADJ_SIZES_DYNAMIC, 1, NULL).word, ==, 1);
}

/* Sizes with equal hints get different symbols; 0 and 1 are not special. */
static void
test_unspecified (void)
{
  g_autoptr (AdjSymbols) symbols = adj_symbols_new ();
  AdjSize a = adj_symbols_add_size (symbols, ADJ_SIZES_UNSPECIFIED, 1, NULL);
  AdjSize b = adj_symbols_add_size (symbols, ADJ_SIZES_UNSPECIFIED, 1, NULL);

  ASSERT_PRINTS (symbols, a, "s0");
  ASSERT_PRINTS (symbols, b, "s1");
  g_assert_cmpint (adj_symbols_find (symbols, "s0")->min, ==, G_MININT64);
  g_assert_cmpint (adj_symbols_find (symbols, "s0")->max, ==, G_MAXINT64);
}

static void
test_unbacked (void)
{
  g_autoptr (AdjSymbols) symbols = adj_symbols_new ();
  AdjSize a = adj_symbols_add_unbacked (symbols, 0, 6, NULL);
  AdjSize b = adj_symbols_add_unbacked (symbols, G_MININT64, G_MAXINT64, NULL);
  gint64 hint;

  ASSERT_PRINTS (symbols, a, "u0");
  ASSERT_PRINTS (symbols, b, "u1");
  g_assert_false (adj_size_get_hint (symbols, a, &hint));
}

/* -- use as a truth value -- */

static void
test_ranges (void)
{
  g_autoptr (AdjSymbols) symbols = adj_symbols_new ();
  AdjSize s0 = adj_symbols_add_size (symbols, ADJ_SIZES_DUCK, 5, NULL);

  g_assert_true (adj_size_test (symbols, ADJ_SIZE_GE, s0, ADJ_SIZE (2)));
  g_assert_false (adj_size_test (symbols, ADJ_SIZE_EQ, s0, ADJ_SIZE (1)));
  g_assert_cmpuint (adj_symbols_get_n_guards (symbols), ==, 0);
}

static void
test_guards (void)
{
  g_autoptr (AdjSymbols) symbols = adj_symbols_new ();
  AdjSize s0 = adj_symbols_add_size (symbols, ADJ_SIZES_DUCK, 5, NULL);
  AdjGuard guard;

  g_assert_true (adj_size_test (symbols, ADJ_SIZE_GT, s0, ADJ_SIZE (3)));
  g_assert_cmpuint (adj_symbols_get_n_guards (symbols), ==, 1);
  guard = adj_symbols_get_guard (symbols, 0);
  ASSERT_PRINTS (symbols, guard.condition, "s0 > 3");
  g_assert_true (guard.holds);
  ASSERT_PRINTS (symbols, adj_symbols_simplify (symbols, s0), "s0");
}

/* s0 == 4 replaces s0 by 4 everywhere. */
static void
test_specializes (void)
{
  g_autoptr (AdjSymbols) symbols = adj_symbols_new ();
  AdjSize s0 = adj_symbols_add_size (symbols, ADJ_SIZES_DUCK, 4, NULL);
  AdjSize s1 = adj_symbols_add_size (symbols, ADJ_SIZES_DUCK, 7, NULL);
  AdjSize sum = adj_size_add (symbols, adj_size_mul (symbols, s0, s1), s0);

  g_assert_true (adj_size_test (symbols, ADJ_SIZE_EQ, s0, ADJ_SIZE (4)));
  ASSERT_PRINTS (symbols, adj_symbols_get_guard (symbols, 0).condition, "Eq(s0, 4)");
  g_assert_cmpint (adj_symbols_simplify (symbols, s0).word, ==, 4);
  ASSERT_PRINTS (symbols, adj_symbols_simplify (symbols, sum), "4*s1 + 4");
  g_assert_true (adj_size_test (symbols, ADJ_SIZE_LT, s0, ADJ_SIZE (5)));
  g_assert_cmpuint (adj_symbols_get_n_guards (symbols), ==, 1);
}

/* So does any equation with a single integer solution, and an inequality that does not hold. */
static void
test_specializes_sums (void)
{
  g_autoptr (AdjSymbols) symbols = adj_symbols_new ();
  AdjSize s0 = adj_symbols_add_size (symbols, ADJ_SIZES_DUCK, 4, NULL);
  AdjSize odd = adj_size_add (symbols, adj_size_mul (symbols, s0, ADJ_SIZE (2)), ADJ_SIZE (1));

  g_assert_false (adj_size_test (symbols, ADJ_SIZE_NE, odd, ADJ_SIZE (9)));
  g_assert_cmpint (adj_symbols_simplify (symbols, s0).word, ==, 4);
}

static void
test_refuses (void)
{
  g_autoptr (AdjContext) cx = adj_context_new ();
  g_autoptr (GError) error = NULL;
  AdjSymbols *symbols = adj_context_get_symbols (cx);
  AdjSize u0 = adj_symbols_add_unbacked (symbols, 0, 6, NULL);

  g_assert_true (adj_context_test_size (cx, ADJ_SIZE_LE, u0, ADJ_SIZE (6)));
  g_assert_false (adj_context_has_error (cx));
  g_assert_false (adj_context_test_size (ADJ_HERE (cx), ADJ_SIZE_GT, u0, ADJ_SIZE (3)));
  g_assert_true (adj_context_take_error (cx, &error));
  g_assert_error (error, ADJ_ERROR, ADJ_ERROR_UNSUPPORTED);
  g_assert_nonnull (strstr (error->message, "data-dependent expression u0 > 3"));
  g_assert_nonnull (strstr (error->message, "test-symbolic.c:"));
  g_assert_cmpuint (adj_symbols_get_n_guards (symbols), ==, 0);
}

static void
test_oblivious (void)
{
  g_autoptr (AdjSymbols) symbols = adj_symbols_new ();
  AdjSize u0 = adj_symbols_add_unbacked (symbols, 0, G_MAXINT64, NULL);

  g_assert_false (adj_size_test (symbols, ADJ_SIZE_EQ, u0, ADJ_SIZE (1)));
  g_assert_cmpuint (adj_symbols_get_n_guards (symbols), ==, 0);
}

static void
test_restricts (void)
{
  g_autoptr (AdjSymbols) symbols = adj_symbols_new ();
  AdjSize u0 = adj_symbols_add_unbacked (symbols, 0, G_MAXINT64, NULL);

  g_assert_true (adj_symbols_restrict (symbols, u0, 4, 8));
  g_assert_true (adj_size_test (symbols, ADJ_SIZE_GT, u0, ADJ_SIZE (3)));
  g_assert_false (adj_symbols_restrict (symbols, u0, 9, 10));
}

/* -- operations and how they print -- */

typedef struct
{
  const char *name;
  const char *expected;
  AdjSizeOp op;
  const char *a, *b;
} Operation;

static const Operation operations[] = {
  { "2*s0+1", "2*s0 + 1", ADJ_SIZE_ADD, "2*s0", "1" },
  { "sub", "s0 - s1", ADJ_SIZE_SUB, "s0", "s1" },
  { "neg", "-s0", ADJ_SIZE_NEG, "s0", "0" },
  { "mul", "s0*s1", ADJ_SIZE_MUL, "s1", "s0" },
  { "floordiv", "(s0//2)", ADJ_SIZE_FLOORDIV, "s0", "2" },
  { "Mod", "Mod(s0, 2)", ADJ_SIZE_MOD, "s0", "2" },
  { "pow", "s0**2", ADJ_SIZE_POW, "s0", "2" },
  { "Max", "Max(1, u0)", ADJ_SIZE_MAX, "1", "u0" },
  { "Min", "Min(3, s0)", ADJ_SIZE_MIN, "s0", "3" },
  { "Eq", "Eq(s0, 4)", ADJ_SIZE_EQ, "s0", "4" },
  { "Ne", "Ne(s0, s1)", ADJ_SIZE_NE, "s0", "s1" },
  { "lt", "s0 < s1", ADJ_SIZE_LT, "s0", "s1" },
};

static void
test_operation (gconstpointer data)
{
  const Operation *row = data;
  g_autoptr (AdjSymbols) symbols = adj_symbols_new ();
  AdjSize a = parse (symbols, row->a);

  ASSERT_PRINTS (symbols, adj_size_apply (symbols, row->op, a, parse (symbols, row->b)),
                 row->expected);
}

/* Max (1, size) as sympy decides it: by sign for s0, which is positive, and not for a quotient. */
static void
test_by_sign (void)
{
  static const char *const sizes[][2] = {
    { "s0", "s0" },
    { "s0*s1", "s0*s1" },
    { "2*s0 - 1", "2*s0 - 1" },
    { "s0 - 1", "Max(1, s0 - 1)" },
    { "(s0//2)", "Max(1, (s0//2))" },
    { "s0 - s1", "Max(1, s0 - s1)" },
    { "s0**2", "s0**2" },
    { "(s0//2) + 1", "(s0//2) + 1" },
  };
  g_autoptr (AdjSymbols) symbols = adj_symbols_new ();
  g_autoptr (AdjSymbols) other = adj_symbols_new ();

  adj_symbols_set_by_sign (symbols, TRUE);
  for (guint i = 0; i < G_N_ELEMENTS (sizes); i++)
    {
      AdjSize size =
          adj_size_apply (symbols, ADJ_SIZE_MAX, parse (symbols, sizes[i][0]), ADJ_SIZE (1));

      ASSERT_PRINTS (symbols, size, sizes[i][1]);
      ASSERT_PRINTS (other, adj_symbols_import (other, symbols, size), sizes[i][1]);
    }
}

/* Expressions that are parsed and kept as written; with their value if it can be computed. */
typedef struct
{
  const char *text;
  gint64 value; /* for s0 = 9 and s1 = 4; -1: unknown */
} Text;

static const Text texts[] = {
  { "2*s0 + 1", 19 },        { "(s0//2)", 4 },          { "Max(1, s0)", 9 },
  { "Eq(s0, 4)", 0 },        { "Ne(s0, 4)", 1 },        { "Mod(s0, 2)", 1 },
  { "PythonMod(s0, 2)", 1 }, { "FloorDiv(s0, s1)", 2 }, { "CeilToInt(s0/2)", -1 },
  { "ToFloat(s0)", -1 },     { "s0 <= s1", 0 },
};

static void
test_text (gconstpointer data)
{
  const Text *row = data;
  g_autoptr (AdjSymbols) symbols = adj_symbols_new ();
  AdjSize size = { 0 };
  gint64 value = -1;

  adj_symbols_define (symbols, &(AdjSymbol){ "s0", 9, 2, G_MAXINT64, NULL });
  adj_symbols_define (symbols, &(AdjSymbol){ "s1", 4, 2, G_MAXINT64, NULL });
  size = parse (symbols, row->text);
  ASSERT_PRINTS (symbols, size, row->text);
  if (!adj_size_get_hint (symbols, size, &value))
    value = -1;
  g_assert_cmpint (value, ==, row->value);
}

/* -- what a capture with dynamic sizes needs at least -- */

static void
test_same (void)
{
  g_autoptr (AdjSymbols) symbols = adj_symbols_new ();
  AdjSize a = parse (symbols, "s1*2*s0 + s1 + 1");

  g_assert_true (
      adj_size_test (symbols, ADJ_SIZE_EQ, a, parse (symbols, "1 + s0*s1 + s1 + s0*s1")));
  g_assert_cmpuint (adj_symbols_get_n_guards (symbols), ==, 0);
  g_assert_true (adj_size_same (adj_size_sub (symbols, a, a), ADJ_SIZE (0)));
}

/* (s, 1) → s and (s, s) → s by identity; (s, t) compares hints and adds a guard. */
static void
test_broadcast (void)
{
  static const char *const rows[][3] = {
    { "f32[s0][1]", "f32[1][1]", "f32[s0][1]cpu" },
    { "f32[s0][1]", "f32[s0][1]", "f32[s0][1]cpu" },
    { "f32[s0][1]", "f32[s1][1]", "f32[s0][1]cpu" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autoptr (AdjSymbols) symbols = adj_symbols_new ();
      g_autoptr (GError) error = NULL;
      g_autoptr (GString) got = g_string_new (NULL);
      AdjTensorMeta a, b;
      const AdjShape *operands[] = { &a.shape, &b.shape };

      adj_symbols_add_size (symbols, ADJ_SIZES_DYNAMIC, 6, NULL);
      adj_symbols_add_size (symbols, ADJ_SIZES_DYNAMIC, 6, NULL);
      g_assert_true (adj_tensor_meta_parse (rows[i][0], -1, symbols, &a, &error));
      g_assert_true (adj_tensor_meta_parse (rows[i][1], -1, symbols, &b, &error));
      g_assert_true (adj_shape_pointwise (&a.shape, symbols, operands, 2, &error));
      g_assert_no_error (error);
      a.device = ADJ_CPU;
      adj_tensor_meta_print (&a, symbols, got);
      g_assert_cmpstr (got->str, ==, rows[i][2]);
      g_assert_cmpuint (adj_symbols_get_n_guards (symbols), ==, i == 2 ? 1 : 0);
      if (i == 2)
        ASSERT_PRINTS (symbols, adj_symbols_get_guard (symbols, 0).condition, "Eq(s0, s1)");
    }
}

/* A size that several operators use is computed by a single node. */
static void
test_once (void)
{
  static const char text[] =
      "class GraphModule(torch.nn.Module):\n"
      "    def forward(self, s0: \"Sym(s0)\", x: \"f32[s0, 3][3, 1]cpu\"):\n"
      "        mul: \"Sym(3*s0)\" = s0 * 3\n"
      "        view: \"f32[3*s0][1]cpu\" = torch.ops.aten.view.default(x, [mul])\n"
      "        zeros: \"f32[3*s0][1]cpu\" = torch.ops.aten.zeros.default([mul])\n"
      "        add: \"f32[3*s0][1]cpu\" = torch.ops.aten.add.Tensor(view, zeros)\n"
      "        return (add,)\n";
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjGraph) graph = adj_test_parse_graph (text);
  g_autoptr (AdjGraph) again = NULL;

  again = adj_retrace (graph, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (adj_graph_get_n_calls (again), ==, 4);
  g_assert_true (adj_graph_equal_structure (graph, again));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/tensor/symbolic/by-sign", test_by_sign);
  g_test_add_func ("/tensor/5/create/static", test_static);
  g_test_add_func ("/tensor/5/create/duck", test_duck);
  g_test_add_func ("/tensor/5/create/dynamic", test_dynamic);
  g_test_add_func ("/tensor/5/create/unspecified", test_unspecified);
  g_test_add_func ("/tensor/5/create/unbacked", test_unbacked);
  g_test_add_func ("/tensor/5/decide/ranges-silently", test_ranges);
  g_test_add_func ("/tensor/5/decide/hints-with-a-guard", test_guards);
  g_test_add_func ("/tensor/5/decide/specializes", test_specializes);
  g_test_add_func ("/tensor/5/decide/specializes-sums", test_specializes_sums);
  g_test_add_func ("/tensor/5/decide/unbacked-is-an-error", test_refuses);
  g_test_add_func ("/tensor/5/decide/unbacked-size-oblivious", test_oblivious);
  g_test_add_func ("/tensor/5/decide/restricts", test_restricts);
  for (guint i = 0; i < G_N_ELEMENTS (operations); i++)
    {
      g_autofree char *path = g_strdup_printf ("/tensor/5/operation/%s", operations[i].name);

      g_test_add_data_func (path, &operations[i], test_operation);
    }
  for (guint i = 0; i < G_N_ELEMENTS (texts); i++)
    {
      g_autofree char *path = g_strdup_printf ("/tensor/5/text/%u", i);

      g_test_add_data_func (path, &texts[i], test_text);
    }
  g_test_add_func ("/tensor/5/minimum/1-same-size", test_same);
  g_test_add_func ("/tensor/5/minimum/2-emitted-once", test_once);
  g_test_add_func ("/tensor/5/minimum/4-broadcast", test_broadcast);
  return g_test_run ();
}
