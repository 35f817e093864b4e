/* SPDX-License-Identifier: MIT */

/* Writes a C function for every operator of the table: a header, and sources among which they are
 * divided.
 *
 *   make-wrappers FOLDER HEADER SOURCE...
 *
 * The header begins with a description of the C types of arguments. */

#include <string.h>

#include "call/adj-op.h"
#include "ops/adj-ops.h"

/* -- types -- */

typedef struct
{
  const char *element;  /* C type */
  const char *value;    /* format that makes an AdjValue of %s, the argument */
  const char *optional; /* (nullable): the same for T?; %NULL: an AdjValue is taken */
} CType;

static const CType c_types[ADJ_N_TYPE_KINDS] = {
  [ADJ_TYPE_KIND_TENSOR] = { "AdjTensor *", "from_tensor (cx, %s)", "from_tensor_or_none (%s)" },
  [ADJ_TYPE_KIND_SCALAR] = { "AdjValue ", "%s", NULL },
  [ADJ_TYPE_KIND_INT] = { "gint64 ", "from_size (%s)", NULL },
  [ADJ_TYPE_KIND_SYMINT] = { "gint64 ", "from_size (%s)", NULL },
  [ADJ_TYPE_KIND_FLOAT] = { "double ", "ADJ_FLOAT (%s)", NULL },
  [ADJ_TYPE_KIND_BOOL] = { "gboolean ", "ADJ_BOOL (%s)", NULL },
  [ADJ_TYPE_KIND_STR] = { "const char *", "from_string (%s)", "from_string (%s)" },
  [ADJ_TYPE_KIND_SCALAR_TYPE] = { "AdjDType ", "from_dtype (%s)", "from_dtype (%s)" },
  [ADJ_TYPE_KIND_LAYOUT] = { NULL, NULL, NULL },
  [ADJ_TYPE_KIND_DEVICE] = { "AdjDevice ", "from_device (%s)", "from_device (%s)" },
  [ADJ_TYPE_KIND_MEMORY_FORMAT] = { "AdjMemoryFormat ", "from_format (%s)", "from_format (%s)" },
  [ADJ_TYPE_KIND_GENERATOR] = { NULL, NULL, NULL },
  [ADJ_TYPE_KIND_ANY] = { "AdjValue ", "%s", NULL },
};

static gboolean
is_left_out (const AdjArgument *argument)
{
  static const char *const names[] = { "layout", "pin_memory", "non_blocking", "generator",
                                       "implicit" };

  for (guint i = 0; argument->has_default && i < G_N_ELEMENTS (names); i++)
    if (strcmp (names[i], argument->name) == 0)
      return TRUE;
  return argument->type.kind == ADJ_TYPE_KIND_GENERATOR;
}

/* Arguments that only the _full form has. */
static gboolean
is_extra (const AdjArgument *argument)
{
  return !is_left_out (argument) && argument->keyword_only && argument->has_default;
}

static gboolean
is_taken (const AdjArgument *argument, gboolean full)
{
  return !is_left_out (argument) && (full || !is_extra (argument));
}

static gboolean
has_extra (const AdjSchema *schema)
{
  for (guint i = 0; i < schema->n_arguments; i++)
    if (is_extra (&schema->arguments[i]))
      return TRUE;
  return FALSE;
}

static gboolean
is_by_value (const AdjType *type)
{
  return !type->is_list && type->optional && c_types[type->kind].optional == NULL;
}

/* -- names -- */

/* "dim_IntList" → "dim_int_list". (transfer full) */
static char *
snake (const char *text)
{
  GString *out = g_string_new (NULL);

  for (const char *at = text; *at != '\0'; at++)
    {
      if (g_ascii_isupper (*at) && at > text && g_ascii_islower (at[-1]))
        g_string_append_c (out, '_');
      g_string_append_c (out, g_ascii_tolower (*at));
    }
  return g_string_free (out, FALSE);
}

/* Operators whose bare name is taken by another function of the library. */
static gboolean
is_of_library (const char *name)
{
  return strcmp (name, "trace") == 0;
}

static char *
stem_of (const AdjSchema *schema)
{
  gboolean bare = strcmp (schema->ns, "aten") == 0 && !is_of_library (schema->name);

  return g_strconcat ("adj_", bare ? "" : schema->ns, bare ? "" : "_", schema->name, NULL);
}

static gboolean
is_out (const AdjSchema *schema)
{
  return strcmp (schema->overload, "out") == 0 || g_str_has_suffix (schema->overload, "_out");
}

/* Whether it is the overload with the bare name: the only one, that of self (`where.self`, which is
 * older here than the unnamed one), the unnamed one, or that of tensors. */
static gboolean
is_plain (guint index)
{
  const AdjSchema *schema = adj_op_get_schema (adj_ops_get (index));
  gboolean only = !is_out (schema), unnamed = FALSE, of_self = FALSE;

  for (guint i = 0; i < adj_ops_get_n (); i++)
    {
      const AdjSchema *other = adj_op_get_schema (adj_ops_get (i));

      if (i == index || strcmp (other->name, schema->name) != 0 ||
          strcmp (other->ns, schema->ns) != 0 || is_out (other))
        continue;
      only = FALSE;
      unnamed |= *other->overload == '\0';
      of_self |= strcmp (other->overload, "self") == 0;
    }
  if (*schema->overload == '\0')
    return !of_self;
  return only || strcmp (schema->overload, "self") == 0 ||
         (!unnamed && strcmp (schema->overload, "Tensor") == 0);
}

static char *
name_of (guint index, gboolean is_short)
{
  const AdjSchema *schema = adj_op_get_schema (adj_ops_get (index));
  g_autofree char *stem = stem_of (schema);
  g_autofree char *overload = snake (schema->overload);

  if (is_plain (index))
    return g_steal_pointer (&stem);
  if (*overload == '\0')
    return g_strconcat ("adj_", schema->ns, "_", schema->name, NULL);
  if (is_short && g_str_has_suffix (overload, "_int_list"))
    overload[strlen (overload) - strlen ("_int_list")] = '\0';
  else if (is_short && g_str_has_suffix (overload, "_int"))
    overload[strlen (overload) - strlen ("_int")] = '\0';
  return g_strconcat (stem, "_", overload, NULL);
}

/* (element-type utf8): by operator. */
static GPtrArray *
name_all (void)
{
  GPtrArray *names = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (GHashTable) taken = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  g_autoptr (GHashTable) used = g_hash_table_new (g_str_hash, g_str_equal);

  for (guint i = 0; i < adj_ops_get_n (); i++)
    {
      char *name = name_of (i, TRUE);

      g_hash_table_insert (
          taken, name, GUINT_TO_POINTER (1 + GPOINTER_TO_UINT (g_hash_table_lookup (taken, name))));
    }
  for (guint i = 0; i < adj_ops_get_n (); i++)
    {
      char *name = name_of (i, TRUE);

      if (GPOINTER_TO_UINT (g_hash_table_lookup (taken, name)) > 1)
        {
          g_free (name);
          name = name_of (i, FALSE);
        }
      if (g_hash_table_contains (used, name)) /* scatter.reduce, after scatter_reduce */
        {
          const AdjSchema *schema = adj_op_get_schema (adj_ops_get (i));
          g_autofree char *stem = stem_of (schema);
          g_autofree char *overload = snake (schema->overload);

          g_free (name);
          name = g_strconcat (stem, "__", overload, NULL);
        }
      if (!g_hash_table_add (used, name))
        g_error ("two operators are called %s", name);
      g_ptr_array_add (names, name);
    }
  return names;
}

/* -- prototypes -- */

static void
print_parameter (const AdjArgument *argument, GString *out)
{
  const AdjType *type = &argument->type;
  const CType *c = &c_types[type->kind];

  if (is_by_value (type))
    g_string_append_printf (out, ", AdjValue %s", argument->name);
  else if (!type->is_list)
    g_string_append_printf (out, ", %s%s", c->element, argument->name);
  else if (type->kind == ADJ_TYPE_KIND_TENSOR)
    g_string_append_printf (out, ", AdjTensor *const *%s, guint n_%s", argument->name,
                            argument->name);
  else
    g_string_append_printf (out, ", const %s*%s, guint n_%s", c->element, argument->name,
                            argument->name);
}

static gboolean
returns_tensor (const AdjSchema *schema)
{
  return schema->n_returns == 1 && !schema->returns[0].type.is_list;
}

static gboolean
returns_list (const AdjSchema *schema)
{
  return schema->n_returns == 1 && schema->returns[0].type.is_list;
}

static void
print_prototype (const char *name, const AdjSchema *schema, gboolean full, GString *out)
{
  const char *type = returns_tensor (schema) ? "AdjTensor *"
                     : returns_list (schema) ? "AdjTensor *const *"
                                             : "gboolean ";

  g_string_append_printf (out, "%s%s%s (AdjContext *cx", type, name, full ? "_full" : "");
  for (guint i = 0; i < schema->n_arguments; i++)
    if (is_taken (&schema->arguments[i], full))
      print_parameter (&schema->arguments[i], out);
  if (returns_list (schema))
    g_string_append (out, ", guint *n_results");
  for (guint i = 0; schema->n_returns > 1 && i < schema->n_returns; i++)
    g_string_append_printf (out, ", AdjTensor **result%u", i);
  g_string_append (out, ")");
}

/* A comment of lines below 100 columns. */
static void
print_comment (const AdjOp *op, GString *out)
{
  g_autofree char *text = g_strdup_printf ("%s: %s", op->schema, op->help);
  g_auto (GStrv) words = g_strsplit (text, " ", -1);
  gsize column = 3;

  g_string_append (out, "\n/*");
  for (guint i = 0; words[i] != NULL; i++)
    {
      gsize width = g_utf8_strlen (words[i], -1) + 1;

      if (column + width > 96)
        {
          g_string_append (out, "\n *");
          column = 3;
        }
      g_string_append_printf (out, " %s", words[i]);
      column += width;
    }
  g_string_append (out, " */\n");
}

static void
print_declaration (const char *name, const AdjSchema *schema, gboolean full, GString *out)
{
  const char *suffix = full ? "_full" : "";

  g_string_append (out, "ADJ_PUBLIC ");
  print_prototype (name, schema, full, out);
  g_string_append_printf (out, ";\n");
  g_string_append_printf (out, "#define %s%s(cx, ...) %s%s (ADJ_HERE (cx), __VA_ARGS__)\n", name,
                          suffix, name, suffix);
}

static char *
make_header (GPtrArray *names)
{
  GString *out = g_string_new (
      "/* SPDX-License-Identifier: MIT */\n"
      "#pragma once\n\n"
      "/* A function for each operator of the table, by which this file is made.  Above each "
      "stands\n"
      " * its schema; the C types of arguments, by their types there:\n"
      " *\n"
      " *   Tensor, Tensor?             AdjTensor *, %NULL only for Tensor?\n"
      " *   Scalar, and T? of a number  AdjValue: ADJ_INT (2), ADJ_FLOAT (0.5), ADJ_NONE\n"
      " *   int, SymInt, float, bool    gint64 (the word of an AdjSize), double, gboolean\n"
      " *   str, ScalarType, Device …   const char *, AdjDType, AdjDevice …; %NULL, ADJ_DTYPE_NONE "
      "…\n"
      " *                               for none\n"
      " *   T[]                         a pointer and a number; %NULL for none\n"
      " *\n"
      " * layout, pin_memory, non_blocking, generator and implicit are left at their defaults.  "
      "Where\n"
      " * a schema has other keyword arguments with defaults, the function takes none of them, and "
      "the\n"
      " * one called _full takes all.\n"
      " *\n"
      " * Results are (transfer none) (nullable): borrowed from the innermost scope; %NULL or "
      "%FALSE:\n"
      " * the context is in error.  Several results go to out arguments, each of them (optional).  "
      "A\n"
      " * call notes the line of the program that makes it, for errors and traces. */\n\n"
      "#include \"call/adj-context.h\"\n\n"
      "G_BEGIN_DECLS\n\n"
      "/* Every wrapper, in the order of the table: EACH (name). */\n"
      "#define ADJ_WRAPPERS(EACH)");

  for (guint i = 0; i < names->len; i++)
    g_string_append_printf (out, " \\\n  EACH (%s)", (char *) g_ptr_array_index (names, i));
  g_string_append (out, "\n");
  for (guint i = 0; i < names->len; i++)
    {
      const AdjOp *op = adj_ops_get (i);
      const AdjSchema *schema = adj_op_get_schema (op);
      const char *name = g_ptr_array_index (names, i);

      print_comment (op, out);
      print_declaration (name, schema, FALSE, out);
      if (has_extra (schema))
        print_declaration (name, schema, TRUE, out);
    }
  g_string_append (out, "\nG_END_DECLS\n");
  return g_string_free (out, FALSE);
}

/* -- bodies -- */

static void
print_value (const AdjArgument *argument, GString *out)
{
  static const char *const lists[ADJ_N_TYPE_KINDS] = {
    [ADJ_TYPE_KIND_TENSOR] = "adj_wrapper_tensors", [ADJ_TYPE_KIND_SCALAR] = "adj_wrapper_values",
    [ADJ_TYPE_KIND_INT] = "adj_wrapper_sizes",      [ADJ_TYPE_KIND_SYMINT] = "adj_wrapper_sizes",
    [ADJ_TYPE_KIND_FLOAT] = "adj_wrapper_doubles",  [ADJ_TYPE_KIND_BOOL] = "adj_wrapper_bools",
  };
  const AdjType *type = &argument->type;
  const char *name = argument->name;

  if (is_by_value (type))
    g_string_append (out, name);
  else if (type->is_list)
    {
      const char *list = lists[type->kind] != NULL ? lists[type->kind] : "adj_wrapper_values";

      if (type->optional)
        g_string_append_printf (out, "%s == NULL ? ADJ_NONE : ", name);
      g_string_append_printf (out, "%s (cx, %s, n_%s)", list, name, name);
    }
  else
    {
      const char *form = type->optional ? c_types[type->kind].optional : c_types[type->kind].value;
      g_auto (GStrv) parts = g_strsplit (form, "%s", 2);

      g_string_append_printf (out, "%s%s%s", parts[0], name, parts[1]);
    }
}

static void
print_body (guint index, const AdjSchema *schema, gboolean full, GString *out)
{
  g_string_append (out, "\n{\n");
  if (schema->n_arguments == 0)
    g_string_append (out, "  AdjValue *args = NULL;\n");
  else
    g_string_append (out, "  AdjValue args[] = {\n");
  for (guint i = 0; i < schema->n_arguments; i++)
    {
      g_string_append (out, "    ");
      if (is_taken (&schema->arguments[i], full))
        print_value (&schema->arguments[i], out);
      else
        g_string_append_printf (out, "adj_wrapper_default (%u, %u)", index, i);
      g_string_append (out, ",\n");
    }
  if (schema->n_arguments > 0)
    g_string_append (out, "  };\n");
  g_string_append (out, "\n");
  if (returns_tensor (schema))
    g_string_append_printf (out, "  return adj_wrapper_call_one (cx, %u, args);\n", index);
  else if (returns_list (schema))
    g_string_append_printf (out, "  return adj_wrapper_call_list (cx, %u, args, n_results);\n",
                            index);
  else
    {
      g_string_append (out, "  AdjTensor **const results[] = { ");
      for (guint i = 0; i < schema->n_returns; i++)
        g_string_append_printf (out, "result%u, ", i);
      g_string_append_printf (
          out, "NULL };\n\n  return adj_wrapper_call_several (cx, %u, args, results);\n", index);
    }
  g_string_append (out, "}\n");
}

/* The bodies of operators @first to @last, exclusive. */
static char *
make_source (GPtrArray *names, guint first, guint last)
{
  GString *out = g_string_new ("/* SPDX-License-Identifier: MIT */\n"
                               "#include \"wrappers/wrappers-private.h\"\n");

  for (guint i = first; i < last; i++)
    {
      const AdjSchema *schema = adj_op_get_schema (adj_ops_get (i));
      const char *name = g_ptr_array_index (names, i);

      for (guint full = 0; full <= (has_extra (schema) ? 1u : 0u); full++)
        {
          g_string_append_printf (out, "\n#undef %s%s\n", name, full ? "_full" : "");
          print_prototype (name, schema, full != 0, out);
          print_body (i, schema, full != 0, out);
        }
    }
  return g_string_free (out, FALSE);
}

/* An unchanged file is not written, so that it keeps its time and nothing is recompiled. */
static void
write_file (const char *folder, const char *name, const char *text)
{
  g_autofree char *path = g_build_filename (folder, name, NULL);
  g_autofree char *old = NULL;
  g_autoptr (GError) error = NULL;

  if (g_file_get_contents (path, &old, NULL, NULL) && strcmp (old, text) == 0)
    return;
  if (!g_file_set_contents (path, text, -1, &error))
    g_error ("%s", error->message);
}

int
main (int argc, char **argv)
{
  g_autoptr (GPtrArray) names = name_all ();
  g_autofree char *header = make_header (names);
  guint n_sources = argc - 3;

  if (argc < 4)
    {
      g_printerr ("usage: make-wrappers FOLDER HEADER SOURCE...\n");
      return 2;
    }
  write_file (argv[1], argv[2], header);
  for (guint i = 0; i < n_sources; i++)
    {
      g_autofree char *source =
          make_source (names, names->len * i / n_sources, names->len * (i + 1) / n_sources);

      write_file (argv[1], argv[3 + i], source);
    }
  return 0;
}
