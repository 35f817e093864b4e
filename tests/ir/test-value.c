/* SPDX-License-Identifier: MIT */
/* Values: copies, equality, maps, text. */

#include <math.h>

#include "ir/adj-text.h"
#include "ir/adj-value-internal.h"
#include "ir/adj-value.h"

static AdjValue
make_nested (void)
{
  AdjValue inner[2] = { ADJ_INT (1), adj_value_new_string ("two") };
  AdjValue outer[3] = {
    adj_value_new_items (ADJ_VALUE_LIST, inner, 2),
    ADJ_FLOAT (NAN),
    ADJ_NODE (((AdjNodeId){ 7 })),
  };

  return adj_value_new_items (ADJ_VALUE_TUPLE, outer, 3);
}

static void
test_copy (void)
{
  g_auto (AdjValue) value = make_nested ();
  g_auto (AdjValue) copy = adj_value_copy (&value);

  g_assert_true (adj_value_equal (&value, &copy));
  g_assert_true (copy.items[0].items != value.items[0].items);
  g_assert_true (copy.items[0].items[1].text != value.items[0].items[1].text);

  copy.items[0].items[0] = ADJ_INT (2);
  g_assert_false (adj_value_equal (&value, &copy));
}

static void
test_equal (void)
{
  AdjValue zero = ADJ_FLOAT (0.0), minus_zero = ADJ_FLOAT (-0.0), nan = ADJ_FLOAT (NAN);
  AdjValue one = ADJ_INT (1), yes = ADJ_BOOL (TRUE), whole = ADJ_FLOAT (1);
  AdjValue list = { .kind = ADJ_VALUE_LIST, .n = 1, .items = &one };
  AdjValue tuple = { .kind = ADJ_VALUE_TUPLE, .n = 1, .items = &one };
  AdjValue none = ADJ_NONE;

  g_assert_false (adj_value_equal (&zero, &minus_zero));
  g_assert_true (adj_value_equal (&nan, &nan));
  g_assert_false (adj_value_equal (&one, &yes));
  g_assert_false (adj_value_equal (&one, &whole));
  g_assert_false (adj_value_equal (&list, &tuple));
  g_assert_true (adj_value_equal (&none, &none));
}

static gboolean
count_leaf (const AdjValue *leaf, gpointer data)
{
  guint *left = data;

  return --*left > 0;
}

static void
test_foreach (void)
{
  g_auto (AdjValue) value = make_nested ();
  guint left = 10;

  g_assert_true (adj_value_foreach (&value, count_leaf, &left));
  g_assert_cmpuint (10 - left, ==, 4);

  left = 2;
  g_assert_false (adj_value_foreach (&value, count_leaf, &left));
  g_assert_cmpuint (left, ==, 0);
}

static gboolean
replace_node (const AdjValue *leaf, AdjValue *out, gpointer data)
{
  if (leaf->kind == ADJ_VALUE_FLOAT && data)
    return FALSE;

  *out = leaf->kind == ADJ_VALUE_NODE ? ADJ_INT (leaf->node.index) : adj_value_copy (leaf);

  return TRUE;
}

static void
test_map (void)
{
  g_auto (AdjValue) value = make_nested ();
  g_auto (AdjValue) mapped = ADJ_NONE;
  gboolean stop = TRUE;

  g_assert_false (adj_value_map (&value, replace_node, &stop, &mapped));
  g_assert_cmpint (mapped.kind, ==, ADJ_VALUE_NONE);

  g_assert_true (adj_value_map (&value, replace_node, NULL, &mapped));
  g_assert_cmpint (mapped.items[2].kind, ==, ADJ_VALUE_INT);
  g_assert_cmpint (mapped.items[2].integer, ==, 7);
  g_assert_true (adj_value_equal (&mapped.items[0], &value.items[0]));
}

static void
test_arena (void)
{
  g_autoptr (AdjArena) arena = adj_arena_new ();
  AdjValue copy;

  {
    g_auto (AdjValue) value = make_nested ();

    copy = adj_value_copy_to_arena (&value, arena);
  }
  g_assert_cmpstr (copy.items[0].items[1].text, ==, "two");
}

static void
test_size (void)
{
  g_autoptr (AdjSymbols) symbols = adj_symbols_new ();
  AdjSymbol symbol = { "s0", 4, 2, 64, NULL };
  AdjSize s0 = adj_symbols_define (symbols, &symbol), back;
  AdjValue number = adj_value_from_size (ADJ_SIZE (5)), expression = adj_value_from_size (s0);

  g_assert_cmpint (number.kind, ==, ADJ_VALUE_INT);
  g_assert_cmpint (expression.kind, ==, ADJ_VALUE_SIZE);
  g_assert_true (adj_value_get_size (&expression, &back));
  g_assert_true (adj_size_same (s0, back));
  g_assert_true (adj_value_get_size (&number, &back));
  g_assert_cmpint (back.word, ==, 5);
}

/* Values as PyTorch 2.6 prints them (Python's repr()), read and printed back. */
static void
test_text (void)
{
  static const char *const texts[] = {
    "None",
    "True",
    "-7",
    "9223372036854775807",
    "-9223372036854775808",
    "1.0",
    "1e-05",
    "1e+22",
    "-0.0",
    "1.2345678901234568e+17",
    "-inf",
    "nan",
    "(1+2j)",
    "(1.5-2.5j)",
    "2j",
    "-2j",
    "-0j",
    "(-0-1j)",
    "(inf+1j)",
    "complex(0.0, inf)",
    "complex(-0.0, nan)",
    "'it\\'s \"q\"\\n'",
    "\"it's\"",
    "b\"\\x00a'\"",
    "Ellipsis",
    "[]",
    "()",
    "(1,)",
    "[1, (2, 3), {'a': [None, True]}]",
    "slice(None, 2, None)",
    "range(0, 3)",
    "range(1, 9, 2)",
    "torch.float32",
    "torch.float8_e5m2",
    "torch.strided",
    "torch.channels_last_3d",
    "device(type='cuda', index=1)",
    "device(type='cpu')",
    "torch.ops.aten.rand.default",
    "<enum.Enum object at 0x7f>",
    "99999999999999999999",
  };

  for (guint i = 0; i < G_N_ELEMENTS (texts); i++)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (GString) printed = g_string_new (NULL);
      g_auto (AdjValue) value = ADJ_NONE;

      g_assert_true (adj_value_parse (texts[i], -1, NULL, NULL, &value, &error));
      g_assert_no_error (error);
      g_assert_true (value.kind != ADJ_VALUE_RAW || i >= G_N_ELEMENTS (texts) - 2);
      adj_value_print (&value, NULL, printed);
      g_assert_cmpstr (printed->str, ==, texts[i]);
    }
}

/* Other spellings of a value are printed in PyTorch's form. */
static void
test_spellings (void)
{
  static const struct
  {
    const char *text, *printed;
  } rows[] = {
    { "torch.Size([2, 3])", "(2, 3)" },   { "torch.Size((2,),)", "(2,)" },
    { "float('-inf')", "-inf" },          { "complex(0.0, 0.0)", "0j" },
    { "complex(-0.0, -1.0)", "(-0-1j)" }, { "complex(inf, -0.0)", "(inf-0j)" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (GString) printed = g_string_new (NULL);
      g_auto (AdjValue) value = ADJ_NONE;

      g_assert_true (adj_value_parse (rows[i].text, -1, NULL, NULL, &value, &error));
      g_assert_no_error (error);
      adj_value_print (&value, NULL, printed);
      g_assert_cmpstr (printed->str, ==, rows[i].printed);
    }
}

static void
test_malformed (void)
{
  static const char *const texts[] = { "", "(", "[1, 2", "a)", "1, 2" };

  for (guint i = 0; i < G_N_ELEMENTS (texts); i++)
    {
      g_autoptr (GError) error = NULL;
      AdjValue value = ADJ_NONE;

      g_assert_false (adj_value_parse (texts[i], -1, NULL, NULL, &value, &error));
      g_assert_error (error, ADJ_ERROR, ADJ_ERROR_PARSE);
      g_assert_cmpint (value.kind, ==, ADJ_VALUE_NONE);
    }
}

static void
test_deep (void)
{
  g_autofree char *open = g_strnfill (100000, '[');
  g_autofree char *close = g_strnfill (100000, ']');
  g_autofree char *text = g_strconcat (open, close, NULL);
  g_auto (AdjValue) value = ADJ_NONE;

  g_assert_true (adj_value_parse (text, -1, NULL, NULL, &value, NULL));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/ir/value/copy", test_copy);
  g_test_add_func ("/ir/value/equal", test_equal);
  g_test_add_func ("/ir/value/foreach", test_foreach);
  g_test_add_func ("/ir/value/map", test_map);
  g_test_add_func ("/ir/value/copies-into-arena", test_arena);
  g_test_add_func ("/ir/value/size", test_size);
  g_test_add_func ("/ir/value/text", test_text);
  g_test_add_func ("/ir/value/spellings", test_spellings);
  g_test_add_func ("/ir/value/malformed-text", test_malformed);
  g_test_add_func ("/ir/value/deep-text", test_deep);

  return g_test_run ();
}
