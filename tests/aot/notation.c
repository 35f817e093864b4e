/* SPDX-License-Identifier: MIT */
/* Parser, interpreter and printer of the short notation for programs and graphs in the cases. */

#include "aot/notation.h"

#include <stdlib.h>
#include <string.h>

#include "autograd/adj-autograd.h"
#include "call/adj-context-internal.h"
#include "call/adj-op.h"
#include "ir/adj-graph.h"
#include "ops/adj-op-id.h"
#include "ops/adj-op-table.h"
#include "rules/adj-apply.h"

/* One statement.  A name is a RAW value; x[0], one of several results, is a SLICE of RAW and
 * INT. */
typedef struct
{
  char *name; /* (nullable) */
  char *op;   /* (nullable): %NULL in a return statement */
  AdjValue args;
} Statement;

struct _Notation
{
  GArray *statements;
  const char *at;
};

/* -- reading -- */

static void
statement_clear (gpointer data)
{
  Statement *statement = data;

  g_free (statement->name);
  g_free (statement->op);
  for (guint i = 0; i < statement->args.n; i++)
    adj_value_clear (&statement->args.items[i]);
  g_free (statement->args.items);
}

static void
skip_blanks (Notation *notation)
{
  while (g_ascii_isspace (*notation->at))
    notation->at++;
}

static gboolean
take (Notation *notation, char c)
{
  skip_blanks (notation);
  if (*notation->at != c)
    return FALSE;
  notation->at++;
  return TRUE;
}

static void
expect (Notation *notation, char c)
{
  if (!take (notation, c))
    g_error ("'%c' is expected before '%s'", c, notation->at);
}

static char *
take_name (Notation *notation)
{
  const char *start;

  skip_blanks (notation);
  start = notation->at;
  while (g_ascii_isalnum (*notation->at) || *notation->at == '_' || *notation->at == '.')
    notation->at++;
  return g_strndup (start, (gsize) (notation->at - start));
}

static AdjValue take_value (Notation *notation);

static AdjValue
take_list (Notation *notation)
{
  g_autoptr (GArray) items = g_array_new (FALSE, FALSE, sizeof (AdjValue));

  while (!take (notation, ']'))
    {
      AdjValue item = take_value (notation);

      g_array_append_val (items, item);
      take (notation, ',');
    }
  return adj_value_new_items (ADJ_VALUE_LIST, (gconstpointer) items->data, items->len);
}

static AdjValue
make_raw (const char *name)
{
  AdjValue value = adj_value_new_string (name);

  value.kind = ADJ_VALUE_RAW;
  return value;
}

static AdjValue
take_number (Notation *notation)
{
  char *end;
  double number = g_ascii_strtod (notation->at, &end);
  gboolean is_float = memchr (notation->at, '.', (gsize) (end - notation->at)) != NULL ||
                      memchr (notation->at, 'e', (gsize) (end - notation->at)) != NULL;

  notation->at = end;
  return is_float ? ADJ_FLOAT (number) : ADJ_INT ((gint64) number);
}

static AdjValue
take_string (Notation *notation)
{
  const char *start = notation->at;
  g_autofree char *text = NULL;

  while (*notation->at != '\'' && *notation->at != '\0')
    notation->at++;
  text = g_strndup (start, (gsize) (notation->at - start));
  expect (notation, '\'');
  return adj_value_new_string (text);
}

static AdjValue
take_value (Notation *notation)
{
  g_autofree char *name = NULL;
  AdjValue value;

  if (take (notation, '['))
    return take_list (notation);
  if (take (notation, '\''))
    return take_string (notation);
  if (*notation->at == '-' || g_ascii_isdigit (*notation->at))
    return take_number (notation);
  name = take_name (notation);
  if (g_str_equal (name, "None"))
    return ADJ_NONE;
  if (g_str_equal (name, "True") || g_str_equal (name, "False"))
    return ADJ_BOOL (g_str_equal (name, "True"));
  value = make_raw (name);
  if (take (notation, '['))
    {
      AdjValue items[3] = { value, take_value (notation), ADJ_NONE };

      expect (notation, ']');
      value = adj_value_new_items (ADJ_VALUE_SLICE, items, 3);
    }
  return value;
}

static void
take_args (Notation *notation, AdjValue *args)
{
  GArray *items = g_array_new (FALSE, FALSE, sizeof (AdjValue));

  while (*notation->at != ')' && *notation->at != ';' && *notation->at != '\0')
    {
      AdjValue item = take_value (notation);

      g_array_append_val (items, item);
      take (notation, ',');
      skip_blanks (notation);
    }
  args->kind = ADJ_VALUE_TUPLE;
  args->n = items->len;
  args->items = (AdjValue *) (gpointer) g_array_free (items, FALSE);
}

static void
take_statement (Notation *notation)
{
  Statement statement = { 0 };
  g_autofree char *word = take_name (notation);

  skip_blanks (notation);
  if (g_str_equal (word, "return"))
    take_args (notation, &statement.args);
  else
    {
      if (take (notation, '='))
        {
          statement.name = g_steal_pointer (&word);
          word = take_name (notation);
        }
      statement.op = g_strdup (word);
      if (take (notation, '('))
        {
          skip_blanks (notation);
          take_args (notation, &statement.args);
          expect (notation, ')');
        }
    }
  g_array_append_val (notation->statements, statement);
  skip_blanks (notation);
  if (*notation->at != '\0')
    expect (notation, ';');
  skip_blanks (notation);
}

Notation *
notation_parse (const char *text)
{
  Notation *notation = g_new0 (Notation, 1);

  notation->statements = g_array_new (FALSE, FALSE, sizeof (Statement));
  g_array_set_clear_func (notation->statements, statement_clear);
  notation->at = text;
  skip_blanks (notation);
  while (*notation->at != '\0')
    take_statement (notation);
  return notation;
}

void
notation_free (Notation *notation)
{
  g_array_unref (notation->statements);
  g_free (notation);
}

/* -- running -- */

typedef struct
{
  AdjFunction parent_instance;
  char **parameters;
  Notation *notation;
} NotationFunction;

static gboolean
look_up (const AdjValue *leaf, AdjValue *out, gpointer data)
{
  const AdjValue *found;

  if (leaf->kind != ADJ_VALUE_RAW)
    {
      *out = adj_value_copy (leaf);
      return TRUE;
    }
  found = g_hash_table_lookup (data, leaf->text);
  if (found == NULL)
    g_error ("nothing is called '%s'", leaf->text);
  *out = adj_value_copy (found);
  return TRUE;
}

static AdjValue
evaluate (const AdjValue *value, GHashTable *names)
{
  AdjValue out;

  if (value->kind == ADJ_VALUE_SLICE)
    {
      g_auto (AdjValue) all = evaluate (&value->items[0], names);

      g_assert_cmpint (value->items[1].integer, <, all.n);
      return adj_value_copy (&all.items[value->items[1].integer]);
    }
  if (value->kind == ADJ_VALUE_LIST)
    {
      g_autofree AdjValue *items = g_new0 (AdjValue, value->n + 1);

      for (guint i = 0; i < value->n; i++)
        items[i] = evaluate (&value->items[i], names);
      return adj_value_new_items (ADJ_VALUE_LIST, items, value->n);
    }
  adj_value_map (value, look_up, names, &out);
  return out;
}

static AdjValue
evaluate_all (const AdjValue *values, GHashTable *names)
{
  g_autofree AdjValue *items = g_new0 (AdjValue, values->n + 1);

  for (guint i = 0; i < values->n; i++)
    items[i] = evaluate (&values->items[i], names);
  return adj_value_new_items (ADJ_VALUE_TUPLE, items, values->n);
}

/* Returns the overload of @name that accepts @args. */
static const AdjOp *
find_op (const char *name, const AdjValue *args)
{
  static const char *const overloads[] = { "default", "Tensor", "Scalar", "int", "dim" };
  AdjValue bound[ADJ_MAX_ARGUMENTS];

  if (strchr (name, '.') != NULL)
    {
      gboolean named = g_str_has_prefix (name, "inductor.");
      g_autofree char *target = g_strconcat (named ? "torch.ops." : "torch.ops.aten.", name, NULL);
      const AdjOp *op = adj_op_find (target);

      g_assert_nonnull (op);
      return op;
    }
  for (guint i = 0; i < G_N_ELEMENTS (overloads); i++)
    {
      g_autofree char *target = g_strdup_printf ("torch.ops.aten.%s.%s", name, overloads[i]);
      const AdjOp *op = adj_op_find (target);

      if (op != NULL && adj_schema_bind (adj_op_get_schema (op), args, NULL, bound, NULL))
        return op;
    }
  g_error ("no overload of %s takes these arguments", name);
}

static AdjTensor *
double_grad (AdjContext *cx, AdjTensor *grad, gpointer data)
{
  return grad != NULL ? ADJ_APPLY (cx, ADJ_OP_mul_Scalar, ADJ_TENSOR (grad), ADJ_INT (2)) : NULL;
}

static gboolean
run_hook (AdjContext *cx, AdjTensor *tensor)
{
  AdjHook *hook = adj_tensor_add_hook (cx, tensor, double_grad, NULL);

  if (hook != NULL)
    adj_hook_unref (hook);
  return hook != NULL;
}

/* Handles words such as "no_grad" and "must_save", which change how the following statements
 * run. */
static gboolean
change_mode (AdjContext *cx, const char *word)
{
  if (g_str_equal (word, "no_grad") || g_str_equal (word, "grad"))
    adj_context_set_grad_enabled (cx, g_str_equal (word, "grad"));
  else if (g_str_equal (word, "must_save"))
    adj_context_set_region (cx, (AdjRegionTag){ .id = 1, .recompute = ADJ_RECOMPUTE_MUST_SAVE });
  else if (g_str_equal (word, "no_region"))
    adj_context_set_region (cx, (AdjRegionTag){ .id = -1 });
  else
    return FALSE;
  return TRUE;
}

static gboolean
run_statement (AdjContext *cx, const Statement *statement, GHashTable *names)
{
  g_auto (AdjValue) args = ADJ_NONE;
  AdjValue result;

  if (change_mode (cx, statement->op))
    return TRUE;
  args = evaluate_all (&statement->args, names);
  if (g_str_equal (statement->op, "hook"))
    return run_hook (cx, args.items[0].tensor);
  if (!adj_call (cx, find_op (statement->op, &args), &args, NULL, &result))
    return FALSE;
  if (statement->name != NULL)
    {
      AdjValue *kept = g_new (AdjValue, 1);

      *kept = adj_value_copy (&result);
      g_hash_table_insert (names, g_strdup (statement->name), kept);
    }
  return TRUE;
}

static void
free_value (gpointer data)
{
  adj_value_clear (data);
  g_free (data);
}

static gboolean
notation_call (
    AdjFunction *function, AdjContext *cx, const AdjValue *args, guint n_args, AdjValue *result)
{
  const NotationFunction *self = (NotationFunction *) function;
  const GArray *statements = self->notation->statements;
  g_autoptr (GHashTable) names =
      g_hash_table_new_full (g_str_hash, g_str_equal, g_free, free_value);

  g_assert_cmpuint (n_args, ==, g_strv_length (self->parameters));
  for (guint i = 0; i < n_args; i++)
    {
      AdjValue *kept = g_new (AdjValue, 1);

      *kept = adj_value_copy (&args[i]);
      g_hash_table_insert (names, g_strdup (self->parameters[i]), kept);
    }
  for (guint i = 0; i < statements->len; i++)
    {
      const Statement *statement = &g_array_index (statements, Statement, i);

      if (statement->op == NULL)
        *result = evaluate_all (&statement->args, names);
      else if (!run_statement (cx, statement, names))
        return FALSE;
    }
  return TRUE;
}

static void
notation_function_finalize (AdjFunction *function)
{
  g_strfreev (((NotationFunction *) function)->parameters);
  notation_free (((NotationFunction *) function)->notation);
}

static const AdjFunctionClass function_class = {
  .name = "notation",
  .call = notation_call,
  .finalize = notation_function_finalize,
};

AdjFunction *
notation_function_new (const char *parameters, const char *text)
{
  NotationFunction *function =
      (NotationFunction *) adj_function_new (&function_class, sizeof *function);

  function->parameters = g_strsplit (parameters, ",", -1);
  for (guint i = 0; function->parameters[i] != NULL; i++)
    g_strstrip (function->parameters[i]);
  function->notation = notation_parse (text);
  return &function->parent_instance;
}

/* -- printing -- */

typedef struct
{
  GHashTable *numbers; /* name → text that replaces it */
  GString *lines;
  GString *writes;
  guint n;
} Print;

static void
print_init (Print *print)
{
  print->numbers = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  print->lines = g_string_new (NULL);
  print->writes = g_string_new (NULL);
  print->n = 0;
}

static char *
print_end (Print *print)
{
  g_hash_table_unref (print->numbers);
  g_string_append (print->lines, print->writes->str);
  g_string_free (print->writes, TRUE);
  return g_string_free (print->lines, FALSE);
}

static const char *
number_of (const Print *print, const char *name)
{
  const char *known = g_hash_table_lookup (print->numbers, name);

  return known != NULL ? known : name;
}

/* Shortens "primals_1" to p1 and "arg0_1" to a0. */
static char *
short_name (const char *name)
{
  if (g_str_has_prefix (name, "primals_"))
    return g_strconcat ("p", name + strlen ("primals_"), NULL);
  if (g_str_has_prefix (name, "tangents_"))
    return g_strconcat ("t", name + strlen ("tangents_"), NULL);
  if (g_str_has_prefix (name, "arg"))
    return g_strdup_printf ("a%d", atoi (name + strlen ("arg")));
  return g_strdup (name);
}

static void
print_value (const Print *print, const AdjGraph *graph, const AdjValue *value, GString *out)
{
  if (value->kind == ADJ_VALUE_RAW)
    g_string_append (out, number_of (print, value->text));
  else if (value->kind == ADJ_VALUE_NODE)
    g_string_append (out, number_of (print, adj_graph_get_node (graph, value->node.index)->name));
  else if (value->kind == ADJ_VALUE_SLICE && graph == NULL)
    {
      print_value (print, graph, &value->items[0], out);
      g_string_append_printf (out, "[%d]", (gint) value->items[1].integer);
    }
  else if (adj_value_is_container (value))
    {
      g_string_append_c (out, '[');
      for (guint i = 0; i < value->n; i++)
        {
          g_string_append (out, i > 0 ? "," : "");
          print_value (print, graph, &value->items[i], out);
        }
      g_string_append_c (out, ']');
    }
  else if (value->kind == ADJ_VALUE_INT)
    g_string_append_printf (out, "%" G_GINT64_FORMAT, value->integer);
  else if (value->kind == ADJ_VALUE_FLOAT)
    g_string_append_printf (out, "%g", value->number);
  else if (value->kind == ADJ_VALUE_BOOL)
    g_string_append (out, value->boolean ? "True" : "False");
  else if (value->kind == ADJ_VALUE_STRING)
    g_string_append (out, value->text);
  else if (value->kind == ADJ_VALUE_OP)
    g_string_append (out, adj_op_get_schema (adj_op_find (value->text))->name);
  else
    g_string_append (out, "None");
}

/* Maps equivalent operators to one name. */
static const char *
common_name (const char *op)
{
  static const char *const same[][2] = {
    { "_reshape_alias", "view" }, { "reshape", "view" },     { "new_zeros", "zeros" },
    { "full", "zeros" },          { "zeros_like", "zeros" }, { "new_full", "zeros" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (same); i++)
    if (g_str_equal (op, same[i][0]))
      return same[i][1];
  return op;
}

static void
define (Print *print, const char *name, const char *text)
{
  g_hash_table_insert (print->numbers, g_strdup (name), g_strdup (text));
}

/* Prints "%1 = op(args)"; a call that makes zeros is printed by its size alone. */
static void
print_call (Print *print,
            const AdjGraph *graph,
            const char *name,
            const char *op,
            const AdjValue *args,
            const AdjTensorMeta *meta)
{
  const char *common = common_name (op);
  gboolean writes = g_str_equal (op, "copy_") || g_str_equal (op, "set_") ||
                    g_str_equal (op, "resize_storage_bytes_");
  GString *out = writes ? print->writes : print->lines;
  g_autofree char *number = g_strdup_printf ("%%%u", print->n + 1);

  if (writes)
    define (print, name, op);
  else
    {
      print->n++;
      define (print, name, number);
      g_string_append_printf (out, "%s = ", number);
    }
  g_string_append_printf (out, "%s(", common);
  if (g_str_equal (common, "zeros"))
    {
      if (meta != NULL)
        adj_shape_print_list (NULL, meta->shape.size, meta->shape.rank, out);
    }
  else
    for (guint i = 0; i < args->n; i++)
      {
        g_string_append (out, i > 0 ? "," : "");
        print_value (print, graph, &args->items[i], out);
      }
  g_string_append (out, ")\n");
}

static void
print_return (Print *print, const AdjGraph *graph, const AdjValue *values)
{
  g_string_append (print->writes, "return ");
  for (guint i = 0; i < values->n; i++)
    {
      g_string_append (print->writes, i > 0 ? ", " : "");
      print_value (print, graph, &values->items[i], print->writes);
    }
  g_string_append_c (print->writes, '\n');
}

char *
notation_print (const char *text)
{
  g_autoptr (Notation) notation = notation_parse (text);
  Print print;

  print_init (&print);
  for (guint i = 0; i < notation->statements->len; i++)
    {
      const Statement *statement = &g_array_index (notation->statements, Statement, i);

      if (statement->op == NULL)
        print_return (&print, NULL, &statement->args);
      else if (g_str_equal (statement->op, "detach"))
        {
          g_autoptr (GString) same = g_string_new (NULL);

          print_value (&print, NULL, &statement->args.items[0], same);
          define (&print, statement->name, same->str);
        }
      else
        {
          g_autofree char *op = g_strdup (statement->op);
          AdjTensorMeta meta = { 0 };
          const AdjValue *sizes = &statement->args.items[0];

          op[strcspn (op, ".")] = '\0';
          if (g_str_equal (op, "zeros"))
            {
              meta.shape.rank = sizes->n;
              for (guint k = 0; k < sizes->n; k++)
                meta.shape.size[k] = ADJ_SIZE (sizes->items[k].integer);
            }
          print_call (&print, NULL, statement->name != NULL ? statement->name : "", op,
                      &statement->args, &meta);
        }
    }
  return print_end (&print);
}

static void
print_node (Print *print, const AdjGraph *graph, const AdjNode *node)
{
  g_autofree char *op = adj_target_get_stem (node->target);

  if (node->opcode == ADJ_OPCODE_PLACEHOLDER)
    {
      g_autofree char *name = short_name (node->name);

      define (print, node->name, name);
      return;
    }
  if (node->opcode == ADJ_OPCODE_OUTPUT)
    {
      print_return (print, graph, &node->args.items[0]);
      return;
    }
  if (g_str_equal (op, "detach") || g_str_equal (op, "alias"))
    {
      define (print, node->name,
              number_of (print, adj_graph_get_node (graph, node->args.items[0].node.index)->name));
      return;
    }
  if (g_str_equal (node->target, "operator.getitem"))
    {
      g_autofree char *item = g_strdup_printf (
          "%s[%d]",
          number_of (print, adj_graph_get_node (graph, node->args.items[0].node.index)->name),
          (gint) node->args.items[1].integer);

      define (print, node->name, item);
      return;
    }
  if (node->op != NULL)
    {
      g_free (op);
      op = g_strdup (adj_op_get_schema (node->op)->name);
    }
  print_call (print, graph, node->name, op, &node->args,
              node->val.kind == ADJ_VALUE_META ? node->val.meta : NULL);
}

/* Bits of a node: it depends on a tangent; a node that depends on a tangent reads it. */
enum
{
  BACKWARD = 1,
  FOR_BACKWARD = 2,
};

static guint8 *
classify (const AdjGraph *graph)
{
  guint n = adj_graph_get_n_nodes (graph);
  guint8 *bits = g_new0 (guint8, n + 1);

  for (guint i = 0; i < n; i++)
    {
      const AdjNode *node = adj_graph_get_node (graph, i);

      if (g_str_has_prefix (node->name, "tangents_"))
        bits[i] |= BACKWARD;
      for (guint k = 0; k < node->n_inputs && node->opcode != ADJ_OPCODE_OUTPUT; k++)
        bits[i] |= bits[node->inputs[k].index] & BACKWARD;
    }
  for (guint i = n; i-- > 0;)
    {
      const AdjNode *node = adj_graph_get_node (graph, i);

      for (guint k = 0; k < node->n_inputs && node->opcode != ADJ_OPCODE_OUTPUT; k++)
        if (bits[i] != 0)
          bits[node->inputs[k].index] |= FOR_BACKWARD;
    }
  return bits;
}

char *
notation_print_graph (const AdjGraph *graph)
{
  g_autofree guint8 *bits = classify (graph);
  guint n = adj_graph_get_n_nodes (graph);
  guint first = 0;
  Print print;

  print_init (&print);
  while (first < n && ((bits[first] & BACKWARD) == 0 ||
                       adj_graph_get_node (graph, first)->opcode == ADJ_OPCODE_PLACEHOLDER))
    print_node (&print, graph, adj_graph_get_node (graph, first++));
  /* Output aliases that are regenerated at the end belong to the forward (N6). */
  for (guint i = first; i < n; i++)
    if (bits[i] == 0 && adj_graph_get_node (graph, i)->opcode != ADJ_OPCODE_OUTPUT)
      print_node (&print, graph, adj_graph_get_node (graph, i));
  for (guint i = first; i < n; i++)
    if (bits[i] != 0 || adj_graph_get_node (graph, i)->opcode == ADJ_OPCODE_OUTPUT)
      print_node (&print, graph, adj_graph_get_node (graph, i));
  return print_end (&print);
}
