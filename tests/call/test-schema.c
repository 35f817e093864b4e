/* SPDX-License-Identifier: MIT */
/* Schemas: parsing, printing, binding, messages. */

#include <string.h>

#include "call/adj-schema-internal.h"
#include "call/adj-schema.h"
#include "support/adj-test.h"

static const AdjSchema *
parse (AdjArena *arena, const char *text)
{
  g_autoptr (GError) error = NULL;
  const AdjSchema *schema = adj_schema_parse (text, arena, &error);

  g_assert_no_error (error);
  return schema;
}

/* Every schema that PyTorch 2.6 registers, as it prints them. */
static void
prints_back (void)
{
  g_autofree char *path = g_test_build_filename (G_TEST_DIST, "call", "data", "schemas.txt", NULL);
  g_autofree char *text = NULL;
  g_auto (GStrv) lines = NULL;
  g_autoptr (AdjArena) arena = adj_arena_new ();
  guint n = 0;

  g_assert_true (g_file_get_contents (path, &text, NULL, NULL));
  lines = g_strsplit (text, "\n", -1);
  for (guint i = 0; lines[i] != NULL && *lines[i] != '\0'; i++, n++)
    {
      g_autofree char *printed = adj_schema_print (parse (arena, lines[i]));

      g_assert_cmpstr (printed, ==, lines[i]);
    }
  g_assert_cmpuint (n, >, 3300);
}

static void
takes_apart (void)
{
  g_autoptr (AdjArena) arena = adj_arena_new ();
  const AdjSchema *s =
      parse (arena, "aten::x.Y(Tensor(a -> *) self, Tensor?[] idx, int[2]? n=[1, 2], *, "
                    "str mode=\"none\", Tensor(b!) out) -> (Tensor(a)[], int k)");

  g_assert_cmpstr (s->target, ==, "torch.ops.aten.x.Y");
  g_assert_cmpuint (s->n_arguments, ==, 5);
  g_assert_cmpuint (s->n_positional, ==, 3);
  g_assert_true (s->arguments[0].type.alias_of_elements);
  g_assert_true (s->arguments[1].type.element_optional);
  g_assert_true (s->arguments[1].type.is_list);
  g_assert_false (s->arguments[1].type.optional);
  g_assert_cmpint (s->arguments[2].type.list_size, ==, 2);
  g_assert_true (s->arguments[2].type.optional);
  g_assert_cmpuint (s->arguments[2].default_value.n, ==, 2);
  g_assert_cmpint (s->arguments[2].default_value.items[1].integer, ==, 2);
  g_assert_cmpstr (s->arguments[3].default_value.text, ==, "none");
  g_assert_true (s->arguments[4].type.written);
  g_assert_true (s->arguments[4].keyword_only);
  g_assert_true (s->returns[0].type.is_list);
  g_assert_cmpstr (s->returns[1].name, ==, "k");
  g_assert_true (adj_schema_mutates (s));
  g_assert_true (adj_schema_is_view (s));
}

static void
refuses (void)
{
  static const char *const bad[] = {
    "",
    "aten",
    "aten::",
    "aten::f",
    "aten::f(",
    "aten::f()",
    "aten::f(Tensor) -> Tensor",
    "aten::f(Tensor x",
    "aten::f(Tensor x,Tensor y) -> Tensor",
    "aten::f(int[ x) -> Tensor",
    "aten::f(int x=) -> Tensor",
    "aten::f(int x=1e) -> Tensor",
    "aten::f(str x=\"a) -> Tensor",
    "aten::f(str x=\"a\\) -> Tensor",
    "aten::f(int[] x=[1, [2]]) -> Tensor",
    "aten::f() -> (Tensor",
    "aten::f() -> Tensor x y",
    "aten::f() -> ",
  };
  g_autoptr (AdjArena) arena = adj_arena_new ();

  for (guint i = 0; i < G_N_ELEMENTS (bad); i++)
    {
      g_autoptr (GError) error = NULL;

      g_assert_null (adj_schema_parse (bad[i], arena, &error));
      g_assert_error (error, ADJ_ERROR, ADJ_ERROR_PARSE);
    }
}

/* -- binding -- */

static const char add_text[] =
    "aten::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor";
static const char sum_text[] = "aten::sum.dim_IntList(Tensor self, int[1]? dim, bool keepdim=False,"
                               " *, ScalarType? dtype=None) -> Tensor";

static void
fills_in_defaults (void)
{
  g_autoptr (AdjArena) arena = adj_arena_new ();
  const AdjSchema *schema = parse (arena, add_text);
  AdjValue items[] = { ADJ_INT (1), ADJ_FLOAT (2.5) };
  AdjValue args = { .kind = ADJ_VALUE_TUPLE, .n = 2, .items = items };
  AdjValue bound[ADJ_MAX_ARGUMENTS];
  g_autoptr (GError) error = NULL;

  g_assert_true (adj_schema_bind (schema, &args, NULL, bound, &error));
  g_assert_no_error (error);
  g_assert_cmpint (bound[1].kind, ==, ADJ_VALUE_FLOAT); /* a number stays a number and is not
                                                           wrapped in a tensor */
  g_assert_cmpint (bound[2].integer, ==, 1);
}

static void
takes_keywords (void)
{
  g_autoptr (AdjArena) arena = adj_arena_new ();
  const AdjSchema *schema = parse (arena, sum_text);
  AdjValue items[] = { ADJ_INT (1), ADJ_INT (0) };
  AdjValue args = { .kind = ADJ_VALUE_TUPLE, .n = 2, .items = items };
  AdjValue pairs[] = {
    { .kind = ADJ_VALUE_STRING, .n = 7, .text = "keepdim" },
    ADJ_BOOL (TRUE),
  };
  AdjValue kwargs = { .kind = ADJ_VALUE_DICT, .n = 2, .items = pairs };
  AdjValue bound[ADJ_MAX_ARGUMENTS];

  g_assert_true (adj_schema_bind (schema, &args, &kwargs, bound, NULL));
  g_assert_cmpint (bound[1].kind, ==, ADJ_VALUE_INT); /* a lone number for int[1] */
  g_assert_true (bound[2].boolean);
  g_assert_cmpint (bound[3].kind, ==, ADJ_VALUE_NONE);
}

static void
check_message (const char *schema_text,
               AdjValue *items,
               guint n,
               AdjValue *pairs,
               guint n_pairs,
               const char *message)
{
  g_autoptr (AdjArena) arena = adj_arena_new ();
  const AdjSchema *schema = parse (arena, schema_text);
  AdjValue args = { .kind = ADJ_VALUE_TUPLE, .n = n, .items = items };
  AdjValue kwargs = { .kind = ADJ_VALUE_DICT, .n = n_pairs, .items = pairs };
  AdjValue bound[ADJ_MAX_ARGUMENTS];
  g_autoptr (GError) error = NULL;

  g_assert_false (adj_schema_bind (schema, &args, &kwargs, bound, &error));
  g_assert_error (error, ADJ_ERROR, ADJ_ERROR_SHAPE);
  g_assert_cmpstr (error->message, ==, message);
}

static void
names_what_is_wrong (void)
{
  AdjValue text = { .kind = ADJ_VALUE_STRING, .n = 1, .text = "x" };
  AdjValue self = { .kind = ADJ_VALUE_STRING, .n = 4, .text = "self" };
  AdjValue two[] = { ADJ_INT (1), text };
  AdjValue three[] = { ADJ_INT (1), ADJ_INT (1), ADJ_INT (1) };
  AdjValue list = { .kind = ADJ_VALUE_LIST, .n = 2, .items = two };
  AdjValue dims[] = { ADJ_INT (1), list };
  AdjValue unknown[] = { text, ADJ_INT (1) };
  AdjValue twice[] = { self, ADJ_INT (1) };
  g_autofree char *wrong = g_strdup_printf (
      "aten::add.Tensor: argument 'other' must be Tensor, not %s", adj_value_kind_name (text.kind));
  g_autofree char *wrong_list = g_strdup_printf (
      "aten::sum.dim_IntList: argument 'dim' must be int[1]?, not %s of %s",
      adj_value_kind_name (ADJ_VALUE_LIST), adj_value_kind_name (ADJ_VALUE_STRING));

  check_message (add_text, two, 2, NULL, 0, wrong);
  check_message (sum_text, dims, 2, NULL, 0, wrong_list);
  check_message (add_text, three, 1, NULL, 0, "aten::add.Tensor: argument 'other' is missing");
  check_message (add_text, three, 3, NULL, 0,
                 "aten::add.Tensor: takes 2 positional arguments, not 3");
  check_message (add_text, three, 2, unknown, 2, "aten::add.Tensor: there is no argument 'x'");
  check_message (add_text, three, 2, twice, 2, "aten::add.Tensor: argument 'self' is given twice");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/call/schema/prints-back", prints_back);
  g_test_add_func ("/call/schema/takes-apart", takes_apart);
  g_test_add_func ("/call/schema/refuses", refuses);
  g_test_add_func ("/call/schema/fills-in-defaults", fills_in_defaults);
  g_test_add_func ("/call/schema/takes-keywords", takes_keywords);
  g_test_add_func ("/call/schema/names-what-is-wrong", names_what_is_wrong);

  return g_test_run ();
}
