/* SPDX-License-Identifier: MIT */
/* The table of operators against lists from PyTorch. */

#include <string.h>

#include "call/adj-context.h"
#include "call/adj-op-internal.h"
#include "ops/adj-op-id.h"
#include "ops/adj-ops.h"
#include "ops/adj-tile-program.h"
#include "rules/adj-operators.h"
#include "support/adj-test.h"

static void
schemas_print_back (void)
{
  for (guint i = 0; i < adj_ops_get_n (); i++)
    {
      const AdjOp *op = adj_ops_get (i);
      g_autofree char *printed = adj_schema_print (adj_op_get_schema (op));

      g_assert_cmpstr (printed, ==, op->schema);
      g_assert_true (adj_op_find (adj_op_get_schema (op)->target) == op);
    }
}

/* data/autocast.txt: NAME CPU CUDA.  Exactly the listed operators are cast, as listed. */
static void
casts_are_pytorchs (void)
{
  static const char *const words[] = {
    [ADJ_CAST_NONE] = "NONE",     [ADJ_CAST_LOWER] = "LOWER",   [ADJ_CAST_F32] = "F32",
    [ADJ_CAST_RESULT] = "RESULT", [ADJ_CAST_WIDEST] = "WIDEST", [ADJ_CAST_REFUSED] = "REFUSED",
  };
  g_autofree char *path = g_test_build_filename (G_TEST_DIST, "ops", "data", "autocast.txt", NULL);
  g_autofree char *text = NULL;
  g_auto (GStrv) lines = NULL;
  g_autoptr (GHashTable) casts = g_hash_table_new (g_str_hash, g_str_equal);
  guint n = 0;

  g_assert_true (g_file_get_contents (path, &text, NULL, NULL));
  lines = g_strsplit (text, "\n", -1);
  for (guint i = 0; lines[i] != NULL && *lines[i] != '\0'; i++)
    {
      char *space = strchr (lines[i], ' ');

      *space = '\0';
      g_hash_table_insert (casts, lines[i], space + 1);
    }
  for (guint i = 0; i < adj_ops_get_n (); i++)
    {
      const AdjOp *op = adj_ops_get (i);
      g_autofree char *name = g_strndup (op->schema, strcspn (op->schema, "("));
      const char *wanted = g_hash_table_lookup (casts, name);
      g_autofree char *has = g_strdup_printf ("%s %s", words[op->autocast[ADJ_DEVICE_CPU]],
                                              words[op->autocast[ADJ_DEVICE_CUDA]]);

      if (g_strcmp0 (has, wanted != NULL ? wanted : "NONE NONE") != 0)
        g_error ("%s: .autocast is %s, PyTorch's is %s", name, has, wanted);
      n += wanted != NULL;
    }
  g_assert_cmpuint (n, >, 80);
}

static void
add_schemas (GHashTable *known, const char *name)
{
  g_autofree char *path = g_test_build_filename (G_TEST_DIST, "call", "data", name, NULL);
  g_autofree char *text = NULL;
  g_auto (GStrv) lines = NULL;

  g_assert_true (g_file_get_contents (path, &text, NULL, NULL));
  lines = g_strsplit (text, "\n", -1);
  for (guint i = 0; lines[i] != NULL; i++)
    g_hash_table_add (known, g_strdup (lines[i]));
}

/* PyTorch has an operator with exactly this schema, also for derived operators. */
static void
schemas_are_pytorchs (void)
{
  g_autoptr (GHashTable) known = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);

  add_schemas (known, "schemas.txt");
  add_schemas (known, "schemas-later.txt");
  for (guint i = 0; i < adj_ops_get_n (); i++)
    if (!g_hash_table_contains (known, adj_ops_get (i)->schema))
      {
        g_test_message ("PyTorch has no %s", adj_ops_get (i)->schema);
        g_test_fail ();
      }
}

/* data/tier-1.txt lists the operators in training graphs of current models. */
static void
holds_tier_1 (void)
{
  g_autofree char *path = g_test_build_filename (G_TEST_DIST, "ops", "data", "tier-1.txt", NULL);
  g_autofree char *text = NULL;
  g_auto (GStrv) targets = NULL;
  guint n = 0;

  g_assert_true (g_file_get_contents (path, &text, NULL, NULL));
  targets = g_strsplit (g_strchomp (text), "\n", -1);
  for (; targets[n] != NULL; n++)
    if (adj_op_find (targets[n]) == NULL)
      {
        g_test_message ("there is no %s", targets[n]);
        g_test_fail ();
      }
  g_test_message ("%u operators of tier 1", n);
  g_assert_cmpuint (n, >=, 279);
}

static void
ids_follow_names (void)
{
  static const char *const ids[] = {
#define OP(id) #id,
#include "ops/operators.inc"
#undef OP
  };

  g_assert_cmpuint (G_N_ELEMENTS (ids), ==, ADJ_N_OPS);
  g_assert_cmpuint (ADJ_N_OPS, >=, 110);
  for (guint i = 0; i < ADJ_N_OPS; i++)
    {
      const AdjSchema *schema = adj_op_get_schema (adj_op ((AdjOpId) i));
      gboolean aten = g_str_equal (schema->ns, "aten");
      g_autofree char *id =
          g_strdup_printf ("%s%s%s%s%s", aten ? "" : schema->ns, aten ? "" : "_", schema->name,
                           *schema->overload != '\0' ? "_" : "", schema->overload);

      g_assert_cmpstr (ids[i], ==, id);
    }
}

static void
records_are_complete (void)
{
  for (guint i = 0; i < adj_ops_get_n (); i++)
    {
      const AdjOp *op = adj_ops_get (i);

      if (op->help == NULL || *op->help == '\0' || strchr (op->help, '\n') != NULL)
        g_error ("%s needs one line of help", op->schema);
      if ((op->flags & ADJ_OP_COMPOSITE) != 0)
        {
          g_assert_nonnull (op->decompose);
          continue;
        }
      if (op->meta == NULL)
        g_error ("%s has no shape rule", op->schema);
      if (op->kernel == NULL && !adj_schema_is_view (adj_op_get_schema (op)) &&
          strcmp (adj_op_get_schema (op)->name, "_unsafe_view") != 0 &&
          strcmp (adj_op_get_schema (op)->name, "unsafe_split") != 0)
        g_error ("%s has no kernel", op->schema);
    }
}

static void
bodies_know_their_names (void)
{
  for (guint i = 0; i < adj_ops_get_n (); i++)
    {
      const AdjOp *op = adj_ops_get (i);
      g_autoptr (GError) error = NULL;

      if (adj_op_get_body (op) == NULL)
        continue;
      adj_tile_program_check_names (adj_op_get_body (op), adj_op_get_schema (op), &error);
      g_assert_no_error (error);
    }
}

static void
bodies_refuse_unknown_names (void)
{
  static const char *const bad[] = { "self + nobody", "sinus(self)", "exp(self, self)" };
  const AdjSchema *schema = adj_op_get_schema (adj_op (ADJ_OP_exp));

  for (guint i = 0; i < G_N_ELEMENTS (bad); i++)
    {
      g_autoptr (AdjArena) arena = adj_arena_new ();
      g_autoptr (GError) error = NULL;
      const AdjExpr *body = adj_expr_parse (arena, bad[i], -1, NULL);

      g_assert_nonnull (body);
      g_assert_false (adj_tile_program_check_names (body, schema, &error));
      g_assert_error (error, ADJ_ERROR, ADJ_ERROR_NOT_FOUND);
    }
}

/* -- gradient rules -- */

static const char *const builtins[] = {
#define BUILTIN(name, help) #name,
#include "ops/composite-builtins.inc"
#include "ops/gradient-builtins.inc"
#include "ops/linalg-builtins.inc"
#include "ops/reduction-builtins.inc"
#include "ops/rule-builtins.inc"
#undef BUILTIN
};

static gboolean
is_builtin (const char *name)
{
  for (guint i = 0; i < G_N_ELEMENTS (builtins); i++)
    if (strcmp (builtins[i], name) == 0)
      return TRUE;
  return FALSE;
}

static gboolean
is_operator (const char *name)
{
  g_auto (GStrv) parts = g_strsplit (name, ".", -1);
  guint n = g_strv_length (parts);
  gboolean prims = n > 1 && g_str_equal (parts[0], "prims");
  g_autofree char *target = g_strdup_printf ("torch.ops.%s%s%s", prims ? "" : "aten.", name,
                                             n > (prims ? 2u : 1u) ? "" : ".default");

  return adj_op_find (target) != NULL;
}

/* Whether @name is @stem or, if there are @n > 1 of them, @stem and an index below @n: "result",
 * "result2".  @stem is "g0" if an argument is called g. */
static gboolean
is_numbered (const char *name, const char *stem, guint n)
{
  const char *digits = name + strlen (stem);
  guint64 number = 0;

  return g_str_has_prefix (name, stem) &&
         (*digits == '\0' ||
          (n > 1 && g_ascii_string_to_unsigned (digits, 10, 0, n - 1, &number, NULL)));
}

static gboolean
is_value (const AdjSchema *schema, const char *name)
{
  static const char *const values[] = {
    "grads",   "spread_grads",      "output_mask",     "True",   "False", "None", "strided",
    "float32", "contiguous_format", "preserve_format", "float64"
  };

  if (is_numbered (name, "g", schema->n_returns) || is_numbered (name, "result", schema->n_returns))
    return TRUE;
  for (guint i = 0; i < G_N_ELEMENTS (values); i++)
    if (strcmp (values[i], name) == 0)
      return TRUE;
  for (guint i = 0; i < schema->n_arguments; i++)
    if (strcmp (schema->arguments[i].name, name) == 0)
      return TRUE;
  return FALSE;
}

/* @locals: names that `let` binds around @e. */
static void
check_rule_tree (const AdjSchema *schema, const AdjExpr *e, GPtrArray *locals)
{
  guint outer = locals->len;
  gboolean known = TRUE;

  if (e->kind == ADJ_EXPR_CALL)
    known = is_builtin (e->name) || is_operator (e->name);
  else if (e->kind == ADJ_EXPR_NAME)
    known = is_value (schema, e->name) ||
            g_ptr_array_find_with_equal_func (locals, e->name, g_str_equal, NULL);
  if (!known)
    {
      g_test_message ("%s: the gradient rule names %s", schema->text, e->name);
      g_test_fail ();
    }
  for (guint i = 0; i < e->n_args; i++)
    {
      check_rule_tree (schema, e->args[i], locals);
      if (e->kind == ADJ_EXPR_LET && i + 1 < e->n_args)
        g_ptr_array_add (locals, (gpointer) e->arg_names[i]);
    }
  g_ptr_array_set_size (locals, (gint) outer);
}

static gboolean
check_rule (const char *name, const AdjExpr *expr, gpointer data, GError **error)
{
  g_autoptr (GPtrArray) locals = g_ptr_array_new ();
  const AdjSchema *schema = data;
  gboolean found = FALSE;

  for (guint i = 0; i < schema->n_arguments; i++)
    found |= strcmp (schema->arguments[i].name, name) == 0 &&
             schema->arguments[i].type.kind == ADJ_TYPE_KIND_TENSOR;
  if (!found)
    g_error ("%s: a gradient of '%s', which is no tensor argument", schema->text, name);
  check_rule_tree (schema, expr, locals);
  return TRUE;
}

static void
gradients_name_what_exists (void)
{
  guint n = 0;

  for (guint i = 0; i < adj_ops_get_n (); i++)
    {
      const AdjOp *op = adj_ops_get (i);
      g_autoptr (AdjArena) arena = adj_arena_new ();
      g_autoptr (GError) error = NULL;

      if (op->grad == NULL)
        continue;
      adj_rules_parse (arena, op->grad, check_rule, (gpointer) adj_op_get_schema (op), &error);
      g_assert_no_error (error);
      n++;
    }
  g_assert_cmpuint (n, >, 80);
}

/* -- costs -- */

static double
flops_of (const char *target, gint64 rows, gint64 inner, gint64 columns)
{
  g_autoptr (AdjContext) cx = adj_context_new ();
  const gint64 left[] = { rows, inner }, right[] = { inner, columns };
  AdjTensorMeta meta = { .dtype = ADJ_DTYPE_F32, .device = ADJ_CPU, .has_strides = TRUE };
  g_autoptr (AdjTensor) a = NULL;
  g_autoptr (AdjTensor) b = NULL;
  const AdjOp *op = adj_op_find (target);
  AdjValue args[ADJ_MAX_ARGUMENTS];
  AdjOpCall call = { .cx = cx, .op = op, .schema = adj_op_get_schema (op), .args = args };
  double flops;

  adj_shape_init_ints (&meta.shape, 2, left);
  a = adj_tensor_new_empty (&meta, NULL, TRUE);
  adj_shape_init_ints (&meta.shape, 2, right);
  b = adj_tensor_new_empty (&meta, NULL, TRUE);
  args[0] = ADJ_TENSOR (a);
  args[1] = ADJ_TENSOR (b);
  args[2] = ADJ_INT (2);
  g_assert_true (adj_op_call_infer (&call));
  flops = adj_op_call_get_flops (&call);
  adj_op_call_clear (&call);
  return flops;
}

/* 2mnk; for each element one product and one sum; a view costs nothing. */
static void
counts_flops (void)
{
  g_assert_cmpfloat (flops_of ("torch.ops.aten.mm.default", 3, 5, 7), ==, 2 * 3 * 5 * 7);
  g_assert_cmpfloat (flops_of ("torch.ops.aten.add.Tensor", 4, 4, 4), ==, 2 * 16);
  g_assert_cmpfloat (flops_of ("torch.ops.aten.add_.Tensor", 4, 4, 4), ==, 2 * 16);
  g_assert_cmpfloat (flops_of ("torch.ops.aten.exp.default", 4, 4, 4), ==,
                     16 * ADJ_FLOPS_TRANSCENDENTAL);
  g_assert_cmpfloat (flops_of ("torch.ops.aten.t.default", 4, 4, 4), ==, 0);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/ops/table/schemas-print-back", schemas_print_back);
  g_test_add_func ("/ops/table/schemas-are-pytorchs", schemas_are_pytorchs);
  g_test_add_func ("/ops/table/casts-are-pytorchs", casts_are_pytorchs);
  g_test_add_func ("/ops/table/holds-tier-1", holds_tier_1);
  g_test_add_func ("/ops/table/ids-follow-names", ids_follow_names);
  g_test_add_func ("/ops/table/records-are-complete", records_are_complete);
  g_test_add_func ("/ops/table/bodies-know-their-names", bodies_know_their_names);
  g_test_add_func ("/ops/table/bodies-refuse-unknown-names", bodies_refuse_unknown_names);
  g_test_add_func ("/ops/table/gradients-name-what-exists", gradients_name_what_exists);
  g_test_add_func ("/ops/table/counts-flops", counts_flops);

  return g_test_run ();
}
