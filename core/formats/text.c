/* SPDX-License-Identifier: MIT */
/* The text form as a format: recognises it, guesses the role of each graph and groups them into
 * regions. */

#include <gio/gio.h>
#include <string.h>

#include "base/adj-file-internal.h"
#include "formats/entries-private.h"
#include "formats/log-lines-private.h"
#include "formats/runnable-private.h"
#include "formats/text-formats-private.h"
#include "ir/adj-graph.h"
#include "ir/adj-input-role.h"
#include "ir/adj-text.h"
#include "ops/adj-op-table.h"

#define MAX_BYTES (256 << 20)

/* "class name(torch.nn.Module):" begins every graph that PyTorch prints, but its code. */
static guint
sniff (const guint8 *head, gsize length, const char *path)
{
  static const char base[] = "(torch.nn.Module):";
  gboolean named = g_str_has_suffix (path, ".txt") || g_str_has_suffix (path, ".py");

  if (head == NULL || length == 0 || memchr (head, '\0', length) != NULL)
    return 0;
  if (memmem (head, length, base, strlen (base)) != NULL &&
      memmem (head, length, "class ", 6) != NULL)
    return 80;
  if (memmem (head, length, "def forward(", 12) != NULL)
    return 60;
  if (memmem (head, length, "users=", 6) != NULL && memmem (head, length, "graph(", 6) != NULL)
    return 60;
  return named ? 10 : 0;
}

static gboolean
has_placeholder (const AdjGraph *graph, const char *prefix)
{
  for (guint i = 0; i < adj_graph_get_n_inputs (graph); i++)
    if (g_str_has_prefix (adj_graph_get_node (graph, adj_graph_get_input (graph, i).index)->target,
                          prefix))
      return TRUE;
  return FALSE;
}

/* Whether the inputs are "primals_1", "primals_2" … without a gap, then tangents, as in a joint
 * graph; a backward graph takes saved values instead. */
static gboolean
takes_all_primals (const AdjGraph *graph)
{
  guint n = adj_graph_get_n_inputs (graph), i = 0;

  for (; i < n; i++)
    {
      g_autofree char *name = g_strdup_printf ("primals_%u", i + 1);

      if (!g_str_equal (adj_graph_get_node (graph, adj_graph_get_input (graph, i).index)->target,
                        name))
        break;
    }
  for (guint k = i; k < n; k++)
    if (adj_graph_get_input_role (graph, adj_graph_get_input (graph, k).index) != ADJ_INPUT_TANGENT)
      return FALSE;
  return i > 0;
}

/* Whether the first output does not depend on a tangent. */
static gboolean
returns_forward (const AdjGraph *graph)
{
  guint n = adj_graph_get_n_nodes (graph);
  const AdjValue *outputs = &adj_graph_get_node (graph, n - 1)->args.items[0];

  return adj_value_is_container (outputs) && outputs->n > 0 &&
         outputs->items[0].kind == ADJ_VALUE_NODE &&
         !adj_graph_depends_on_tangent (graph, outputs->items[0].node.index);
}

/* What the graph is, by the names that PyTorch gives (ir/SPEC.md §2.3). */
static const char *
guess_role (const AdjGraph *graph)
{
  const char *name = adj_graph_get_name (graph);
  gboolean has_primals = has_placeholder (graph, "primals_");
  gboolean has_tangents = adj_graph_has_input (graph, ADJ_INPUT_TANGENT);

  if (g_str_has_prefix (name, "CompiledAutograd"))
    return "compiled_autograd";
  if (adj_graph_get_header (graph) == ADJ_HEADER_PYTREE && has_tangents)
    return "joint";
  if (has_tangents && takes_all_primals (graph) && returns_forward (graph))
    return "joint";
  if (has_tangents)
    return "backward";
  if (has_primals)
    return "forward";
  if (has_placeholder (graph, "L_"))
    return "dynamo";
  return strcmp (name, "<lambda>") == 0 ? "inference" : "user";
}

/* The index of the region that a graph of @role belongs to: the last one, or a new one if that has
 * such a graph already. */
static guint
choose_region (GPtrArray *regions, const char *role)
{
  GPtrArray *last = regions->len > 0 ? regions->pdata[regions->len - 1] : NULL;

  for (guint i = 0; last != NULL && i < last->len; i++)
    if (g_str_has_suffix (last->pdata[i], role))
      last = NULL;
  if (last == NULL)
    g_ptr_array_add (regions, g_ptr_array_new_with_free_func (g_free));
  return regions->len - 1;
}

static gboolean
add_graph (AdjBundleBuilder *builder,
           GPtrArray *regions,
           const AdjParsedGraph *parsed,
           const char *title,
           GError **error)
{
  const char *role = guess_role (parsed->graph);
  guint region = choose_region (regions, role);
  g_autofree char *id = g_strdup_printf ("%u-0-%s", region, role);
  AdjBundleGraph entry = {
    .id = id, .title = title ? title : id, .role = role, .rank = -1, .graph = parsed->graph
  };

  if (!adj_bundle_builder_add_graph (builder, &entry, error))
    return FALSE;
  adj_bundle_builder_set_text (builder, id, parsed->text);
  g_ptr_array_add (regions->pdata[region], g_steal_pointer (&id));
  return TRUE;
}

static gboolean
add_region (AdjBundleBuilder *builder, guint index, GPtrArray *ids, GError **error)
{
  g_autofree char *id = g_strdup_printf ("%u-0", index);
  AdjRegion region = { .id = id, .rank = -1, .n_graphs = ids->len, .num_fwd_outputs = -1 };

  return adj_bundle_builder_add_region (builder, &region, (const char *const *) ids->pdata, error);
}

static AdjBundle *
bundle_of (GArray *graphs, const char *title, AdjDiags *diags, GError **error)
{
  g_autoptr (AdjDiags) owned = diags;
  g_autoptr (AdjBundleBuilder) builder = adj_bundle_builder_new ();
  g_autoptr (GPtrArray) regions =
      g_ptr_array_new_with_free_func ((GDestroyNotify) g_ptr_array_unref);
  g_autofree char *description =
      graphs->len == 1 ? g_strdup_printf ("text of a graph, %s", title)
                       : g_strdup_printf ("text of %u graphs, %s", graphs->len, title);

  for (guint i = 0; i < graphs->len; i++)
    if (!add_graph (builder, regions, &g_array_index (graphs, AdjParsedGraph, i),
                    graphs->len == 1 ? title : NULL, error))
      return NULL;
  for (guint i = 0; i < regions->len; i++)
    if (!add_region (builder, i, regions->pdata[i], error))
      return NULL;
  adj_bundle_builder_set_description (builder, description);
  return adj_bundle_builder_end (g_steal_pointer (&builder), g_steal_pointer (&owned));
}

/* Whether it is a console of TORCH_LOGS that begins with what the program itself printed. */
static gboolean
has_messages (const char *text, gsize length)
{
  const char *tag = memmem (text, length, " [__", strlen (" [__"));
  const char *start = tag;
  g_autofree char *line = NULL;

  while (start > text && start[-1] != '\n')
    start--;
  line = tag != NULL ? g_strndup (start, (gsize) (tag - start) + strlen (" [__")) : NULL;
  return line != NULL && log_lines_have_message (line);
}

static AdjBundle *
load_bytes (GBytes *bytes, const char *title, GCancellable *cancellable, GError **error)
{
  g_autoptr (AdjDiags) diags = adj_diags_new ();
  g_autoptr (GArray) graphs = NULL;
  g_autofree char *base = g_path_get_basename (title);
  g_autofree char *valid = g_utf8_make_valid (base, -1);
  g_autofree char *annotated = NULL;
  const char *text, *bad;
  gsize length;

  text = text_of_bytes (bytes, &length);
  if (!g_utf8_validate_len (text, length, &bad))
    {
      g_set_error (error, ADJ_ERROR, ADJ_ERROR_PARSE,
                   "%s: not UTF-8 text (at byte %" G_GSIZE_FORMAT ")", title, (gsize) (bad - text));
      return NULL;
    }
  if (has_messages (text, length))
    return adj_format_find ("torch-logs", NULL)->load_bytes (bytes, title, cancellable, error);
  annotated = runnable_annotate (text, length);
  graphs = annotated != NULL ? adj_graph_parse_all (annotated, -1, adj_op_find, diags, error)
                             : adj_graph_parse_all (text, length, adj_op_find, diags, error);
  if (graphs == NULL)
    {
      g_prefix_error (error, "%s:", title);
      return NULL;
    }
  /* The text of a file with one graph is the whole file. */
  if (graphs->len == 1 && memchr (text, '\033', length) == NULL)
    {
      AdjParsedGraph *only = &g_array_index (graphs, AdjParsedGraph, 0);

      g_bytes_unref (only->text);
      only->text = g_bytes_ref (bytes);
    }
  return bundle_of (graphs, valid, g_steal_pointer (&diags), error);
}

static AdjBundle *
load (const char *path, GCancellable *cancellable, GError **error)
{
  g_autoptr (GBytes) bytes = adj_file_read (path, ADJ_FILE_WHOLE, MAX_BYTES, cancellable, error);

  if (bytes == NULL || g_cancellable_set_error_if_cancelled (cancellable, error))
    return NULL;
  return load_bytes (bytes, path, cancellable, error);
}

/* Formats of one graph take the one that is named, or the only one. */
static gboolean
save_one (AdjBundle *bundle,
          char *(*print) (const AdjGraph *graph),
          const char *path,
          const AdjSaveOptions *options,
          GCancellable *cancellable,
          GError **error)
{
  const AdjBundleGraph *graph = options != NULL ? options->graph : NULL;
  SaveMeter meter = { .cancellable = cancellable, .options = options, .n_passes = 1 };
  g_autoptr (GPtrArray) chunks = g_ptr_array_new_with_free_func ((GDestroyNotify) g_bytes_unref);
  char *text;

  if (graph == NULL && adj_bundle_get_n_graphs (bundle) > 1)
    {
      g_set_error (error, ADJ_ERROR, ADJ_ERROR_NOT_FOUND,
                   "%s: holds one graph, but there are %u: say which", path,
                   adj_bundle_get_n_graphs (bundle));
      return FALSE;
    }
  if (graph == NULL && (graph = adj_bundle_find_graph (bundle, NULL, error)) == NULL)
    return FALSE;
  text = print (graph->graph);
  meter.size = strlen (text);
  g_ptr_array_add (chunks, g_bytes_new_take (text, meter.size));
  return file_replace (path, chunks, &meter, error);
}

static char *
print_text (const AdjGraph *graph)
{
  return adj_graph_print (graph, ADJ_PRINT_DEFAULT, NULL);
}

static gboolean
save_text (AdjBundle *bundle,
           const char *path,
           const AdjSaveOptions *options,
           GCancellable *cancellable,
           GError **error)
{
  return save_one (bundle, print_text, path, options, cancellable, error);
}

static gboolean
save_dot (AdjBundle *bundle,
          const char *path,
          const AdjSaveOptions *options,
          GCancellable *cancellable,
          GError **error)
{
  return save_one (bundle, adj_graph_print_dot, path, options, cancellable, error);
}

static gboolean
save_json (AdjBundle *bundle,
           const char *path,
           const AdjSaveOptions *options,
           GCancellable *cancellable,
           GError **error)
{
  return save_one (bundle, adj_graph_print_json, path, options, cancellable, error);
}

const AdjFormat adj_format_text = {
  .name = "text",
  .summary = "graphs as PyTorch prints them: print_readable, code, exported programs",
  .extensions = ".txt .py",
  .mime_type = "text/plain",
  .sniff = sniff,
  .load = load,
  .load_bytes = load_bytes,
  .save = save_text,
};

const AdjFormat adj_format_dot = {
  .name = "dot",
  .summary = "one graph for Graphviz",
  .extensions = ".dot .gv",
  .mime_type = "text/vnd.graphviz",
  .save = save_dot,
};

const AdjFormat adj_format_json = {
  .name = "json",
  .summary = "one graph as it stands in an .adjoint file, without its tensors",
  .extensions = ".json",
  .mime_type = "application/json",
  .save = save_json,
};
