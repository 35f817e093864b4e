/* SPDX-License-Identifier: MIT */
/* Joins Inductor's kernels, as a log records them, with the nodes of a graph and with the generated
 * code.
 *
 * A region that is differentiated is compiled twice under one compile id, so it has two tables of
 * kernels and two codes.  Chosen are the table with the greatest share of names that are nodes of
 * the graph, and the code that calls the most kernels of that table. */

#include "formats/adj-kernels.h"

#include <string.h>

#include "formats/json-private.h"
#include "ir/adj-graph.h"

struct _AdjKernels
{
  AdjArena *arena;
  GArray *kernels; /* AdjKernel */
  const AdjBundleFact *code;
};

/* Facts of old and of new releases that map kernels to names of nodes; @member: where the map
 * stands in the fact, if not at its top. */
static const struct
{
  const char *fact, *member;
} tables[] = {
  { "inductor_provenance_tracking_node_mappings", "cppCodeToPost" },
  { "inductor_triton_kernel_to_post_grad_nodes", NULL },
};

/* The code of torch.compile, and of AOTInductor. */
static const char *const codes[] = { "inductor_output_code", "inductor_aot_wrapper_code" };

void
adj_kernels_free (AdjKernels *kernels)
{
  adj_arena_free (kernels->arena);
  g_array_unref (kernels->kernels);
  g_free (kernels);
}

/* (nullable) */
static const JsonItem *
read_table (AdjArena *arena, const AdjBundleFact *fact)
{
  gsize length;
  const char *text = g_bytes_get_data (fact->text, &length);
  const JsonItem *root = NULL;

  for (guint i = 0; i < G_N_ELEMENTS (tables); i++)
    if (g_str_equal (fact->name, tables[i].fact) && text != NULL)
      {
        root = json_parse (arena, fact->name, text, length, NULL);
        if (root != NULL && tables[i].member != NULL)
          root = json_get (root, tables[i].member);
      }
  return root != NULL && root->kind == JSON_OBJECT ? root : NULL;
}

static AdjNodeId
find_node (const AdjGraph *graph, const JsonItem *name)
{
  return name->kind == JSON_STRING ? adj_graph_find_node (graph, name->text) : ADJ_NO_NODE;
}

static gboolean
is_node (AdjNodeId id)
{
  return id.index != ADJ_NO_NODE.index;
}

/* How many names a table has, and how many of them are nodes of a graph. */
typedef struct
{
  guint n, n_known;
} Fit;

static Fit
fit_table (const JsonItem *table, const AdjGraph *graph)
{
  Fit fit = { 0 };

  for (guint i = 0; i < table->n; i++)
    for (guint k = 0; table->items[i].kind == JSON_ARRAY && k < table->items[i].n; k++, fit.n++)
      fit.n_known += is_node (find_node (graph, &table->items[i].items[k]));
  return fit;
}

/* Compares by the share of known names, since names such as "mul" are in every graph.  A table with
 * less than half of its names known belongs to another graph. */
static gboolean
is_better (Fit fit, Fit than)
{
  guint64 share = (guint64) fit.n_known * MAX (than.n, 1);
  guint64 other = (guint64) than.n_known * MAX (fit.n, 1);

  if (2 * fit.n_known < fit.n || fit.n_known == 0)
    return FALSE;
  return share > other || (share == other && fit.n_known > than.n_known);
}

static const JsonItem *
find_table (AdjArena *arena,
            const AdjBundle *bundle,
            const AdjRegion *region,
            const AdjGraph *graph)
{
  const JsonItem *best = NULL;
  Fit closest = { 0 };

  for (guint i = 0; i < adj_bundle_get_n_facts (bundle); i++)
    {
      const AdjBundleFact *fact = adj_bundle_get_fact (bundle, i);
      const JsonItem *table = fact->region == region ? read_table (arena, fact) : NULL;
      Fit fit = table != NULL ? fit_table (table, graph) : (Fit){ 0 };

      if (is_better (fit, closest))
        {
          best = table;
          closest = fit;
        }
    }
  return best;
}

static void
add_kernel (AdjKernels *self, const JsonItem *entry, const AdjGraph *graph)
{
  AdjKernel kernel = { .name = adj_arena_intern (self->arena, entry->key) };
  AdjNodeId *nodes;

  if (entry->kind != JSON_ARRAY)
    return;
  nodes = adj_arena_new0 (self->arena, AdjNodeId, MAX (entry->n, 1));
  for (guint i = 0; i < entry->n; i++)
    {
      AdjNodeId id = find_node (graph, &entry->items[i]);

      if (is_node (id))
        nodes[kernel.n_nodes++] = id;
    }
  kernel.nodes = nodes;
  if (kernel.n_nodes > 0)
    g_array_append_val (self->kernels, kernel);
}

static gboolean
is_word (char c)
{
  return g_ascii_isalnum (c) || c == '_';
}

static gboolean
follows (const char *code, const char *at, const char *word)
{
  gsize length = strlen (word);

  return (gsize) (at - code) >= length && memcmp (at - length, word, length) == 0;
}

/* "cpp_fused_mul_0(", "call_triton_poi_fused_mul_0(", "triton_poi_fused_mul_0.run(",
 * "extern_kernels.mm(", not their definitions. */
static const char *
find_call (const char *code, const char *name)
{
  const char *at = code;

  while ((at = strstr (at, name)) != NULL)
    {
      const char *end = at + strlen (name);
      const char *begin = follows (code, at, "call_") ? at - strlen ("call_") : at;

      if ((begin == code || !is_word (begin[-1])) && !follows (code, begin, "def ") &&
          !follows (code, begin, "void ") && (*end == '(' || g_str_has_prefix (end, ".run(")))
        return at;
      at = end;
    }
  return NULL;
}

static guint
line_of (const char *code, const char *at)
{
  guint line = 1;

  for (const char *p = code; p < at; p++)
    line += *p == '\n';
  return line;
}

/* For a name with a number, the comment before its call: "# […] extern_kernels.mm:4"; else, or if
 * there is none, @code. */
static const char *
skip_to_handle (const char *code, const char *name)
{
  const char *at = strchr (name, ':') != NULL ? strstr (code, name) : NULL;

  while (at != NULL && g_ascii_isdigit (at[strlen (name)]))
    at = strstr (at + 1, name);
  return at != NULL ? at : code;
}

/* Sets the line of each call in @code and returns how many were found. */
static guint
find_lines (AdjKernels *self, const char *code)
{
  guint n = 0;

  for (guint i = 0; i < self->kernels->len; i++)
    {
      AdjKernel *kernel = &g_array_index (self->kernels, AdjKernel, i);
      g_autofree char *name = g_strndup (kernel->name, strcspn (kernel->name, ":"));
      const char *at = find_call (skip_to_handle (code, kernel->name), name);

      kernel->line = at != NULL ? line_of (code, at) : 0;
      n += at != NULL;
    }
  return n;
}

static gboolean
is_code (const AdjBundleFact *fact)
{
  for (guint i = 0; i < G_N_ELEMENTS (codes); i++)
    if (g_str_equal (fact->name, codes[i]))
      return TRUE;
  return FALSE;
}

static void
find_code (AdjKernels *self, const AdjBundle *bundle, const AdjRegion *region)
{
  g_autofree char *best = NULL;
  guint most = 0;

  for (guint i = 0; i < adj_bundle_get_n_facts (bundle); i++)
    {
      const AdjBundleFact *fact = adj_bundle_get_fact (bundle, i);
      gsize length;
      const char *text = g_bytes_get_data (fact->text, &length);
      g_autofree char *code = NULL;
      guint n;

      if (fact->region != region || !is_code (fact))
        continue;
      code = g_strndup (text, length);
      n = find_lines (self, code);
      if (n <= most)
        continue;
      self->code = fact;
      most = n;
      g_free (best);
      best = g_steal_pointer (&code);
    }
  if (best == NULL)
    return;
  find_lines (self, best);
  /* Drops kernels that the code never calls: a table may still list those of an earlier
   * compilation. */
  for (guint i = self->kernels->len; i-- > 0;)
    if (g_array_index (self->kernels, AdjKernel, i).line == 0)
      g_array_remove_index (self->kernels, i);
}

AdjKernels *
adj_kernels_new (const AdjBundle *bundle, const AdjBundleGraph *graph)
{
  const AdjRegion *region = adj_bundle_find_region (bundle, graph);
  g_autoptr (AdjKernels) self = g_new0 (AdjKernels, 1);
  const JsonItem *table;

  self->arena = adj_arena_new ();
  self->kernels = g_array_new (FALSE, FALSE, sizeof (AdjKernel));
  table = region != NULL ? find_table (self->arena, bundle, region, graph->graph) : NULL;
  if (table == NULL)
    return NULL;
  for (guint i = 0; i < table->n; i++)
    add_kernel (self, &table->items[i], graph->graph);
  find_code (self, bundle, region);
  return g_steal_pointer (&self);
}

guint
adj_kernels_get_n (const AdjKernels *kernels)
{
  return kernels->kernels->len;
}

const AdjKernel *
adj_kernels_get (const AdjKernels *kernels, guint index)
{
  g_return_val_if_fail (index < kernels->kernels->len, NULL);

  return &g_array_index (kernels->kernels, AdjKernel, index);
}

const AdjBundleFact *
adj_kernels_get_code (const AdjKernels *kernels)
{
  return kernels->code;
}

/* -- from a line to its kernel -- */

/* Whether @line has @name as a word; its calls may have "call_" before it. */
static gboolean
names (const char *line, const char *name)
{
  const char *at = line;

  while ((at = strstr (at, name)) != NULL)
    {
      const char *begin = follows (line, at, "call_") ? at - strlen ("call_") : at;

      at += strlen (name);
      if ((begin == line || !is_word (begin[-1])) && !is_word (*at))
        return TRUE;
    }
  return FALSE;
}

/* The index of the kernel that @line names: a name with its number is preferred to one without. */
static guint
find_named (const AdjKernels *self, const char *line)
{
  for (guint i = 0; i < self->kernels->len; i++)
    if (names (line, g_array_index (self->kernels, AdjKernel, i).name))
      return i;
  for (guint i = 0; i < self->kernels->len; i++)
    {
      const char *name = g_array_index (self->kernels, AdjKernel, i).name;
      g_autofree char *base = g_strndup (name, strcspn (name, ":"));

      if (names (line, base))
        return i;
    }
  return G_MAXUINT;
}

static guint
find_called (const AdjKernels *self, guint line)
{
  for (guint i = 0; i < self->kernels->len; i++)
    if (g_array_index (self->kernels, AdjKernel, i).line == line)
      return i;
  return G_MAXUINT;
}

/* The source of a kernel is a text of several lines behind "NAME = ", up to the line that closes
 * it. */
static guint
find_source (const AdjKernels *self, char *const *lines, guint index)
{
  while (index-- > 0)
    if (strstr (lines[index], "'''") != NULL)
      return is_word (*lines[index]) ? find_named (self, lines[index]) : G_MAXUINT;
  return G_MAXUINT;
}

guint
adj_kernels_find_line (const AdjKernels *kernels, guint line)
{
  g_autofree char *code = NULL;
  g_auto (GStrv) lines = NULL;
  gsize length;
  const char *text;
  guint found;

  if (kernels->code == NULL || line == 0)
    return G_MAXUINT;
  text = g_bytes_get_data (kernels->code->text, &length);
  code = g_strndup (text, length);
  lines = g_strsplit (code, "\n", -1);
  if (line > g_strv_length (lines))
    return G_MAXUINT;
  found = find_called (kernels, line);
  if (found == G_MAXUINT)
    found = find_named (kernels, lines[line - 1]);
  return found != G_MAXUINT ? found : find_source (kernels, lines, line - 1);
}
