/* SPDX-License-Identifier: MIT */
/* Reads the cases of tests/aot, makes their inputs and functions, and traces them. */

#include "aot/case.h"

#include <stdlib.h>
#include <string.h>

#include "call/adj-mode.h"
#include "ir/adj-graph.h"
#include "ir/adj-text.h"
#include "ops/adj-op-id.h"
#include "rules/adj-apply.h"
#include "rules/adj-operators.h"
#include "support/adj-test.h"
#include "trace/adj-trace.h"

#define MAX_INPUTS 8

static void
case_free (gpointer data)
{
  Case *c = data;

  g_free (c->name);
  g_free (c->inputs);
  g_free (c->make);
  g_free (c->names);
  g_free (c->function);
  g_free (c->joint);
  g_free (c->forward);
  g_free (c->inference);
  g_free (c->graph);
  g_free (c->steps);
  g_free (c->saved);
  g_free (c->blamed);
  g_free (c->nodes);
  g_ptr_array_unref (c->metadata);
  g_free (c);
}

static Case *
case_new (const char *name)
{
  Case *c = g_new0 (Case, 1);

  c->name = g_strdup (name);
  c->metadata = g_ptr_array_new_with_free_func (g_free);
  c->n_tangents = -1;
  return c;
}

static void
read_options (Case *c, const char *text)
{
  const char *export = strstr (text, "export ");

  c->options.keep_input_mutations = strstr (text, "keep") != NULL;
  c->options.functionalize_rng = strstr (text, "rng") != NULL;
  c->options.export_joint = export != NULL;
  c->options.loss = export != NULL ? (guint) atoi (export + strlen ("export ")) : 0;
  c->is_graph = strstr (text, "graph") != NULL;
}

static void
read_line (Case *c, const char *key, const char *text)
{
  const struct
  {
    const char *key;
    char **place;
  } texts[] = {
    { "in", &c->inputs },   { "make", &c->make },   { "as", &c->names },    { "f", &c->function },
    { "J", &c->joint },     { "F", &c->forward },   { "I", &c->inference }, { "err", &c->blamed },
    { "graph", &c->graph }, { "steps", &c->steps }, { "node", &c->nodes },  { "sv", &c->saved },
  };

  for (guint i = 0; i < G_N_ELEMENTS (texts); i++)
    if (g_str_equal (texts[i].key, key))
      {
        *texts[i].place = g_strdup (text);
        return;
      }
  if (g_str_equal (key, "opt"))
    read_options (c, text);
  else if (g_str_equal (key, "m"))
    g_ptr_array_add (c->metadata, g_strdup (text));
  else if (g_str_equal (key, "n"))
    c->n_tangents = atoi (text);
  else
    g_error ("unknown line '%s %s'", key, text);
}

GPtrArray *
cases_load (const char *name)
{
  GPtrArray *cases = g_ptr_array_new_with_free_func (case_free);
  g_autofree char *path = g_test_build_filename (G_TEST_DIST, "aot", name, NULL);
  g_autofree char *text = adj_test_read_file (path, NULL);
  g_auto (GStrv) lines = g_strsplit (text, "\n", -1);

  for (guint i = 0; lines[i] != NULL; i++)
    {
      char *blank = strchr (lines[i], ' ');

      if (lines[i][0] == '#' || lines[i][0] == '\0')
        continue;
      if (blank == NULL)
        {
          g_ptr_array_add (cases, case_new (lines[i]));
          continue;
        }
      *blank = '\0';
      g_assert_cmpuint (cases->len, >, 0);
      read_line (cases->pdata[cases->len - 1], lines[i], blank + 1);
    }
  return cases;
}

/* -- inputs -- */

AdjContext *
case_context_new (void)
{
  AdjContext *cx = adj_context_new ();

  adj_context_push_mode (cx, adj_autograd_mode_new ());
  return cx;
}

static AdjTensor *
make_tensor (AdjContext *cx, AdjDType dtype, guint rank, const gint64 *sizes, guint seed)
{
  AdjTensorMeta meta = { .dtype = dtype, .device = ADJ_CPU, .has_strides = TRUE };
  AdjTensor *tensor;
  gint64 numel = 1;
  gpointer bytes;

  adj_shape_init_ints (&meta.shape, rank, sizes);
  for (guint i = 0; i < rank; i++)
    numel *= sizes[i];
  tensor = adj_scope_add (cx, adj_tensor_new_empty (&meta, NULL, FALSE));
  bytes = adj_storage_write (adj_tensor_get_storage (tensor));
  for (gint64 i = 0; i < numel; i++)
    if (dtype == ADJ_DTYPE_I64)
      ((gint64 *) bytes)[i] = (i + seed) % 2;
    else
      ((float *) bytes)[i] = 0.25f + (float) ((i * 7 + seed * 5) % 11) / 8.0f;
  return tensor;
}

/* Parses "a [2,3] rg" or "i i64[]".  A tensor that requires a gradient is the result of an
 * operation; its leaf is appended to @leaves. */
static AdjTensor *
make_input (AdjContext *cx, const char *text, guint seed, GPtrArray *leaves)
{
  g_auto (GStrv) words = g_strsplit (text, " ", -1);
  g_auto (GStrv) numbers = NULL;
  char *open = strchr (words[1], '[');
  gint64 sizes[ADJ_MAX_RANK];
  guint rank = 0;
  AdjTensor *tensor;

  open[strlen (open) - 1] = '\0';
  numbers = g_strsplit (open + 1, ",", -1);
  while (numbers[rank] != NULL)
    {
      sizes[rank] = atoi (numbers[rank]);
      rank++;
    }
  tensor = make_tensor (cx, g_str_has_prefix (words[1], "i64") ? ADJ_DTYPE_I64 : ADJ_DTYPE_F32,
                        rank, sizes, seed);
  if (words[2] == NULL)
    return tensor;
  g_assert_true (adj_tensor_set_requires_grad (cx, tensor, TRUE));
  if (leaves != NULL)
    g_ptr_array_add (leaves, tensor);
  return g_str_equal (words[2], "leaf")
             ? tensor
             : ADJ_APPLY (cx, ADJ_OP_mul_Tensor, ADJ_TENSOR (tensor), ADJ_INT (1));
}

/* Splits "a [2,3] rg, b [3]" at the commas outside of brackets. */
static GPtrArray *
split_inputs (const char *text)
{
  GPtrArray *parts = g_ptr_array_new_with_free_func (g_free);
  const char *start = text;
  gboolean inside = FALSE;

  for (const char *p = text;; p++)
    {
      inside = (inside || *p == '[') && *p != ']';
      if (*p != '\0' && (*p != ',' || inside))
        continue;
      g_ptr_array_add (parts, g_strstrip (g_strndup (start, (gsize) (p - start))));
      start = p + 1;
      if (*p == '\0')
        return parts;
    }
}

/* Joins the names of @parts: "a, b". */
static char *
name_inputs (const GPtrArray *parts)
{
  g_autoptr (GString) names = g_string_new (NULL);

  for (guint i = 0; i < parts->len; i++)
    {
      const char *part = parts->pdata[i];

      g_string_append (names, i > 0 ? ", " : "");
      g_string_append_len (names, part, (gssize) strcspn (part, " "));
    }
  return g_string_free (g_steal_pointer (&names), FALSE);
}

AdjValue
case_make_inputs (const Case *c, AdjContext *cx, GPtrArray *leaves)
{
  g_autoptr (GPtrArray) parts = split_inputs (c->inputs);
  g_autofree char *names = name_inputs (parts);
  g_autofree AdjValue *items = g_new0 (AdjValue, parts->len + 1);
  g_auto (AdjValue) given = ADJ_NONE;
  g_autoptr (AdjFunction) make = NULL;
  AdjValue made;

  for (guint i = 0; i < parts->len; i++)
    items[i] = ADJ_TENSOR (adj_tensor_ref (make_input (cx, parts->pdata[i], i, leaves)));
  given = adj_value_new_items (ADJ_VALUE_TUPLE, items, parts->len);
  if (c->make == NULL)
    return adj_value_steal (&given);
  make = notation_function_new (names, c->make);
  g_assert_true (adj_function_call (make, cx, given.items, given.n, &made));
  return made;
}

/* Returns the names of the function's inputs: "a, b". */
static char *
list_names (const Case *c)
{
  g_autoptr (GPtrArray) parts = split_inputs (c->inputs);

  return c->names != NULL ? g_strdup (c->names) : name_inputs (parts);
}

void
case_observe (const Case *c, Observed *observed)
{
  g_autoptr (GPtrArray) leaves = g_ptr_array_new ();
  AdjValue inputs;

  observed_init (observed, MAX_INPUTS);
  inputs = case_make_inputs (c, observed->cx, leaves);
  g_assert_cmpuint (inputs.n, <=, MAX_INPUTS);
  observed->n_inputs = inputs.n;
  for (guint i = 0; i < inputs.n; i++)
    observed->inputs[i] = adj_value_copy (&inputs.items[i]);
  for (guint i = 0; i < leaves->len; i++)
    observed->leaves[i] = adj_tensor_ref (leaves->pdata[i]);
  adj_value_clear (&inputs);
}

AdjFunction *
case_function_new (const Case *c)
{
  g_autofree char *names = list_names (c);

  return notation_function_new (names, c->function);
}

AdjAotGraph *
case_trace (const Case *c, const AdjValue *inputs, GError **error)
{
  g_autoptr (AdjFunction) function = case_function_new (c);

  return adj_aot_trace (function, inputs->items, inputs->n, &c->options, NULL, error);
}

char *
case_print_graph (const Case *c)
{
  g_autoptr (AdjContext) cx = case_context_new ();
  g_auto (AdjValue) inputs = ADJ_NONE;
  g_autoptr (AdjFunction) function = NULL;
  g_autofree AdjValue *metas = NULL;
  g_autofree AdjTensorMeta *meta = NULL;
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjGraph) graph = NULL;
  g_autofree char *text = NULL;
  g_auto (GStrv) names = NULL;
  AdjTraceOptions options = { .name = "GraphModule" };

  if (c->graph != NULL)
    {
      g_autofree char *path = g_test_build_filename (G_TEST_DIST, "aot", c->graph, NULL);

      return adj_test_read_file (path, NULL);
    }
  inputs = case_make_inputs (c, cx, NULL);
  function = case_function_new (c);
  metas = g_new0 (AdjValue, inputs.n + 1);
  meta = g_new0 (AdjTensorMeta, inputs.n + 1);
  for (guint i = 0; i < inputs.n; i++)
    {
      meta[i] = *adj_tensor_get_meta (inputs.items[i].tensor);
      meta[i].requires_grad = adj_tensor_get_requires_grad (inputs.items[i].tensor);
      meta[i].storage = -1;
      metas[i] = (AdjValue){ .kind = ADJ_VALUE_META, .meta = &meta[i] };
    }
  text = list_names (c);
  names = g_strsplit (text, ",", -1);
  for (guint i = 0; names[i] != NULL; i++)
    g_strstrip (names[i]);
  options.parameters = (const char *const *) names;
  graph = adj_trace (function, metas, inputs.n, &options, &error);
  g_assert_no_error (error);
  return adj_graph_print (graph, ADJ_PRINT_DEFAULT, NULL);
}
