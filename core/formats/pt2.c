/* SPDX-License-Identifier: MIT */
/* Programs of torch.export (formats/SPEC.md §12): graph, signature, weights and sample inputs out
 * of either layout of the archive, without Python. */

#include <gio/gio.h>
#include <string.h>

#include "base/adj-file-internal.h"
#include "formats/adj-format.h"
#include "formats/pt2-private.h"
#include "formats/torch-save-private.h"
#include "ir/adj-graph.h"
#include "ir/adj-opaque.h"

#define OLD_PROGRAM "serialized_exported_program.json"
#define MAX_JSON_BYTES (G_GUINT64_CONSTANT (1) << 30)
#define MAX_MODELS 1000
#define SCHEMA_MAJOR 8

GBytes *
pt2_archive_read (Pt2Archive *archive, const char *name, guint64 max_bytes, GError **error)
{
  g_autofree char *entry = g_strconcat (archive->root, name, NULL);
  guint index;

  return zip_find (archive->archive, entry, &index)
             ? zip_read (archive->archive, index, max_bytes, archive->diags, error)
             : NULL;
}

AdjFilePart *
pt2_archive_get_part (Pt2Archive *archive, const char *name, GError **error)
{
  g_autofree char *entry = g_strconcat (archive->root, name, NULL);
  g_autoptr (AdjFilePart) part = NULL;
  g_autoptr (GBytes) bytes = NULL;
  guint index;

  if (zip_find (archive->archive, entry, &index))
    part = zip_get_part (archive->archive, index);
  if (part != NULL && adj_file_part_peek (part) == NULL)
    return g_steal_pointer (&part);
  bytes = pt2_archive_read (archive, name, G_MAXINT64, error);
  return bytes != NULL ? adj_file_part_new_for_bytes (bytes) : NULL;
}

/* -- symbols -- */

static void
take_bound (const JsonItem *item, gint64 *out)
{
  if (item != NULL && item->kind == JSON_INT)
    *out = item->integer;
}

/* {"s0": {"min_val": 2, "max_val": null}} */
static void
define_ranges (Pt2Program *program)
{
  const JsonItem *ranges = json_get (program->root, "range_constraints");

  for (guint i = 0; ranges != NULL && ranges->kind == JSON_OBJECT && i < ranges->n; i++)
    {
      AdjSymbol symbol = { .name = ranges->items[i].key,
                           .hint = ADJ_SYMBOL_UNBACKED,
                           .min = G_MININT64,
                           .max = G_MAXINT64 };

      if (strlen (symbol.name) > 64)
        continue;
      take_bound (json_get (&ranges->items[i], "min_val"), &symbol.min);
      take_bound (json_get (&ranges->items[i], "max_val"), &symbol.max);
      adj_symbols_define (program->scope.symbols, &symbol);
    }
}

/* A size that is a symbol says what that was when the program was exported. */
static void
take_hint (Pt2Program *program, const JsonItem *size)
{
  const JsonItem *expression = json_get (size, "as_expr");
  const JsonItem *hint = json_get (json_get (expression, "hint"), "as_int");
  AdjSymbol symbol;
  AdjSize parsed;

  if (hint == NULL || hint->kind != JSON_INT ||
      !pt2_read_size (&program->scope, size, &parsed, NULL))
    return;
  for (guint i = 0; i < adj_symbols_get_n (program->scope.symbols); i++)
    {
      g_autoptr (GString) text = g_string_new (NULL);

      symbol = *adj_symbols_get (program->scope.symbols, i);
      adj_size_print (program->scope.symbols, parsed, text);
      if (strcmp (symbol.name, text->str) != 0 || symbol.hint != ADJ_SYMBOL_UNBACKED)
        continue;
      symbol.hint = hint->integer;
      adj_symbols_define (program->scope.symbols, &symbol);
      return;
    }
}

/* Of the inputs: all symbols that are backed are sizes of these. */
static void
define_hints (Pt2Program *program, const JsonItem *graph)
{
  const JsonItem *values = json_get (graph, "tensor_values");
  const JsonItem *inputs = json_get (graph, "inputs");

  for (guint i = 0; inputs != NULL && inputs->kind == JSON_ARRAY && i < inputs->n; i++)
    {
      const char *name = json_get_text (json_get (&inputs->items[i], "as_tensor"), "name");
      const JsonItem *sizes = name != NULL ? json_get (json_get (values, name), "sizes") : NULL;

      for (guint k = 0; sizes != NULL && sizes->kind == JSON_ARRAY && k < sizes->n; k++)
        take_hint (program, &sizes->items[k]);
    }
}

/* -- programs -- */

static gboolean
check_version (Pt2Program *program, GError **error)
{
  const JsonItem *version = json_get (program->root, "schema_version");
  gint64 major = json_get_int (version, "major", -1), minor = json_get_int (version, "minor", -1);

  if (major == SCHEMA_MAJOR)
    return TRUE;
  if (major < 0)
    json_fail (program->scope.json, program->root, error, "no schema_version: no exported program");
  else
    g_set_error (error, ADJ_ERROR, ADJ_ERROR_UNSUPPORTED,
                 "%s: schema %" G_GINT64_FORMAT ".%" G_GINT64_FORMAT
                 ": of torch.export we read schema %d, which PyTorch 2.6 and later write",
                 program->scope.json->name, major, minor, SCHEMA_MAJOR);
  return FALSE;
}

static gboolean
add_region (Pt2Program *program, GError **error)
{
  AdjRegion region = { .id = program->id, .rank = -1, .n_graphs = 1, .num_fwd_outputs = -1 };
  const char *const ids[] = { program->id };

  return adj_bundle_builder_add_region (program->builder, &region, ids, error);
}

static gboolean
add_graph (Pt2Program *program, GError **error)
{
  const JsonItem *module = json_get (program->root, "graph_module");
  const JsonItem *graph = json_get (module, "graph"), *signature = json_get (module, "signature");
  AdjBundleGraph entry = { .id = program->id, .role = "export", .rank = -1 };

  if (graph == NULL || graph->kind != JSON_OBJECT || signature == NULL)
    {
      json_fail (program->scope.json, program->root, error, "no graph, or no signature of it");
      return FALSE;
    }
  define_ranges (program);
  define_hints (program, graph);
  if (!pt2_held_read (program, error))
    return FALSE;
  program->scope.held = &program->held;
  program->graph = pt2_graph_read (&program->scope, graph, signature, error);
  if (program->graph == NULL)
    return FALSE;
  entry.title = program->model != NULL ? program->model : program->id;
  entry.graph = program->graph;
  bundle_builder_set_torch_version (program->builder,
                                    json_get_text (program->root, "torch_version"));
  pt2_add_facts (program);
  return adj_bundle_builder_add_graph (program->builder, &entry, error) &&
         add_region (program, error) && pt2_add_call (program, signature, error);
}

static gboolean
read_json (Pt2Program *program, GBytes *bytes, const char *name, GError **error)
{
  gsize length;
  const char *text = g_bytes_get_data (bytes, &length);
  JsonReader json;

  if (!json_reader_init (&json, name, text != NULL ? text : "", length, error))
    return FALSE;
  json.python = TRUE;
  program->scope.json = &json;
  program->root = json_read (&json, program->scope.arena, error);
  return program->root != NULL && json_finish (&json, error) && check_version (program, error) &&
         add_graph (program, error);
}

/* The program in @entry. */
static gboolean
add_program (Pt2Archive *archive,
             AdjBundleBuilder *builder,
             const char *entry,
             const char *model,
             const char *id,
             GError **error)
{
  g_autoptr (AdjArena) arena = adj_arena_new ();
  g_autoptr (AdjSymbols) symbols = adj_symbols_new ();
  g_autofree char *name = g_strdup_printf ("%s: %s", archive->path, entry);
  g_autoptr (GBytes) bytes = pt2_archive_read (archive, entry, MAX_JSON_BYTES, error);
  Pt2Program program = { .archive = archive,
                         .builder = builder,
                         .model = model,
                         .id = id,
                         .scope = { .arena = arena, .symbols = symbols } };
  gboolean good = bytes != NULL && read_json (&program, bytes, name, error);

  g_clear_pointer (&program.graph, adj_graph_unref);
  pt2_held_clear (&program.held);
  return good;
}

/* -- archives -- */

/* (transfer full) (nullable): the folder around all entries, by the one that says the format. */
static char *
find_root (const ZipArchive *archive)
{
  for (guint i = 0; i < zip_get_n (archive); i++)
    {
      const char *name = zip_get_name (archive, i);

      if (strcmp (name, OLD_PROGRAM) == 0 || g_str_has_prefix (name, "data/aotinductor/"))
        return g_strdup ("");
      if (g_str_has_suffix (name, "/archive_format"))
        return g_strndup (name, strlen (name) - strlen ("archive_format"));
    }
  return NULL;
}

static gboolean
check_format (Pt2Archive *archive, GError **error)
{
  g_autoptr (GBytes) version = NULL, order = NULL;

  version = pt2_archive_read (archive, "archive_version", 64, error);
  if (version == NULL && error != NULL && *error != NULL)
    return FALSE;
  order = pt2_archive_read (archive, "byteorder", 64, error);
  if (order == NULL && error != NULL && *error != NULL)
    return FALSE;
  if (version != NULL &&
      (g_bytes_get_size (version) != 1 || *(const char *) g_bytes_get_data (version, NULL) != '0'))
    g_set_error (error, ADJ_ERROR, ADJ_ERROR_UNSUPPORTED,
                 "%s: an archive of another version than 0, which is the one that is read",
                 archive->path);
  else if (order != NULL && g_bytes_get_size (order) >= 3 &&
           memcmp (g_bytes_get_data (order, NULL), "big", 3) == 0)
    g_set_error (error, ADJ_ERROR, ADJ_ERROR_UNSUPPORTED,
                 "%s: was written on a big-endian machine, which is not read", archive->path);
  else
    return TRUE;
  return FALSE;
}

/* "models/My Model.json" → "My Model" */
static char *
model_of (const Pt2Archive *archive, const char *entry)
{
  g_autofree char *prefix = g_strconcat (archive->root, "models/", NULL);
  gsize start = strlen (prefix), end = strlen (entry);

  if (!g_str_has_prefix (entry, prefix) || !g_str_has_suffix (entry, ".json") ||
      strchr (entry + start, '/') != NULL)
    return NULL;
  return g_strndup (entry + start, end - start - strlen (".json"));
}

/* (transfer full): the id of graph @n, called @model. */
static char *
id_of (const char *model, guint n)
{
  g_autofree char *lower = g_ascii_strdown (model, -1);

  return bundle_is_id (lower) && strlen (lower) < 50
             ? g_strdup_printf (n == 0 ? "%s" : "%s-%u", lower, n)
             : g_strdup_printf ("model-%u", n);
}

static gboolean
add_models (Pt2Archive *archive, AdjBundleBuilder *builder, GError **error)
{
  guint n = 0, index;

  if (zip_find (archive->archive, OLD_PROGRAM, &index))
    return add_program (archive, builder, OLD_PROGRAM, NULL, "model", error);
  for (guint i = 0; i < zip_get_n (archive->archive); i++)
    {
      const char *entry = zip_get_name (archive->archive, i);
      g_autofree char *model = model_of (archive, entry);
      g_autofree char *id = model != NULL ? id_of (model, n) : NULL;

      if (model == NULL)
        continue;
      if (n++ >= MAX_MODELS)
        {
          g_set_error (error, ADJ_ERROR, ADJ_ERROR_LIMIT, "%s: more than %d programs",
                       archive->path, MAX_MODELS);
          return FALSE;
        }
      if (!add_program (archive, builder, entry + strlen (archive->root), model, id, error))
        return FALSE;
    }
  return TRUE;
}

static void
fail_without_model (const Pt2Archive *archive, GError **error)
{
  g_autofree char *held = pt2_package_describe (archive);

  if (held == NULL)
    g_set_error (error, ADJ_ERROR, ADJ_ERROR_PARSE,
                 "%s: an archive of torch.export without a program", archive->path);
  else
    g_set_error (
        error, ADJ_ERROR, ADJ_ERROR_PARSE,
        "%s: a package of AOTInductor, compiled code without a graph: export the model with "
        "torch.export.save(); it holds %s",
        archive->path, held);
}

static AdjBundle *
read_archive (Pt2Archive *archive, GError **error)
{
  g_autoptr (AdjBundleBuilder) builder = adj_bundle_builder_new ();
  g_autofree char *description = NULL;
  const AdjBundle *bundle = bundle_builder_peek (builder);

  if (!check_format (archive, error) || !add_models (archive, builder, error))
    return NULL;
  if (adj_bundle_get_n_graphs (bundle) == 0)
    {
      fail_without_model (archive, error);
      return NULL;
    }
  description =
      g_strdup_printf ("exported by torch %s", adj_bundle_get_torch_version (bundle) != NULL
                                                   ? adj_bundle_get_torch_version (bundle)
                                                   : "of an unknown version");
  adj_bundle_builder_set_description (builder, description);
  return adj_bundle_builder_end (g_steal_pointer (&builder), g_steal_pointer (&archive->diags));
}

static AdjBundle *
load_part (AdjFilePart *part, const char *title, GCancellable *cancellable, GError **error)
{
  Pt2Archive archive = { .path = title };
  AdjBundle *bundle = NULL;

  archive.archive = zip_open (part, title, error);
  if (archive.archive == NULL)
    return NULL;
  archive.root = find_root (archive.archive);
  archive.diags = adj_diags_new ();
  if (archive.root == NULL)
    g_set_error (error, ADJ_ERROR, ADJ_ERROR_PARSE,
                 "%s: an archive without a program of torch.export", title);
  else if (!g_cancellable_set_error_if_cancelled (cancellable, error))
    bundle = read_archive (&archive, error);
  g_clear_pointer (&archive.diags, adj_diags_free);
  g_free (archive.root);
  zip_free (archive.archive);
  return bundle;
}

static AdjBundle *
load_bytes (GBytes *bytes, const char *title, GCancellable *cancellable, GError **error)
{
  g_autoptr (AdjFilePart) part = adj_file_part_new_for_bytes (bytes);

  return load_part (part, title, cancellable, error);
}

static AdjBundle *
load (const char *path, GCancellable *cancellable, GError **error)
{
  g_autoptr (AdjFilePart) part = adj_file_part_open (path, ADJ_FILE_WHOLE, cancellable, error);

  return part != NULL ? load_part (part, path, cancellable, error) : NULL;
}

/* The names of its first entries, or what the file is called. */
static guint
sniff (const guint8 *head, gsize length, const char *path)
{
  static const char *const entries[] = { OLD_PROGRAM,        "/archive_format",    "/data/weights/",
                                         "/data/constants/", "/data/aotinductor/", "/models/" };

  if (length < 4 || memcmp (head, "PK\003\004", 4) != 0)
    return 0;
  for (guint i = 0; i < G_N_ELEMENTS (entries); i++)
    if (memmem (head, length, entries[i], strlen (entries[i])) != NULL)
      return 80;
  return g_str_has_suffix (path, ".pt2") ? 50 : 0;
}

const AdjFormat adj_format_pt2 = {
  .name = "pt2",
  .summary = "program of torch.export with its weights and sample inputs",
  .extensions = ".pt2",
  .sniff = sniff,
  .load = load,
  .load_bytes = load_bytes,
};
