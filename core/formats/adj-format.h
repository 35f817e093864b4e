/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/adj-cancellable.h"
#include "base/adj-file-writer.h"
#include "formats/adj-bundle.h"
#include "objects/adj-extensions.h"

G_BEGIN_DECLS

typedef struct
{
  /* (nullable) The one to write for formats that hold one; %NULL: the only one. */
  const AdjBundleGraph *graph;
  /* (nullable) Called from time to time with the KiB of the file that are done. */
  void (*progress) (guint done, guint total, gpointer data);
  gpointer data;
  /* (nullable) Of adj_bundle_open_writer(), open since before that was read which is now changed.
   */
  AdjFileWriter *writer;
} AdjSaveOptions;

/* A file format: one const record and one file each. */
typedef struct
{
  const char *name;       /* "adjoint" */
  const char *summary;    /* one line */
  const char *extensions; /* ".adjoint", space separated; the first is the one we write */
  const char *mime_type;  /* (nullable) */
  /* (nullable) How sure the first @length bytes of a file (at most 4096) are of this format,
   * 0–100. */
  guint (*sniff) (const guint8 *head, gsize length, const char *path);
  /* (nullable) @path may be a folder.  Errors name "path", "path:line:column" or "path: entry". */
  AdjBundle *(*load) (const char *path, GCancellable *cancellable, GError **error);
  /* (nullable) As @load of what a program is still writing, without a record at the end of a file
   * that is not complete yet.  @growth: %NULL at first; what is kept there reads on from where the
   * call before stopped, and its graphs are the same objects.  With ADJ_ERROR_STALE what was read
   * is no longer in the file, and @growth is %NULL again. */
  AdjBundle *(*load_growing) (const char *path,
                              gpointer *growth,
                              GCancellable *cancellable,
                              GError **error);
  GDestroyNotify growth_free; /* with @load_growing */
  /* (nullable) The same for a file's bytes, of which errors speak as @title. */
  AdjBundle *(*load_bytes) (GBytes *bytes,
                            const char *title,
                            GCancellable *cancellable,
                            GError **error);
  /* (nullable) Writes beside @path and renames; nothing is left behind on failure, or when it was
   * cancelled.  @options: (nullable) */
  gboolean (*save) (AdjBundle *bundle,
                    const char *path,
                    const AdjSaveOptions *options,
                    GCancellable *cancellable,
                    GError **error);
} AdjFormat;

/* In the order of lists. */
ADJ_PUBLIC guint adj_formats_get_n (void);
ADJ_PUBLIC const AdjFormat *adj_formats_get (guint index);
/* (nullable): %NULL with ADJ_ERROR_NOT_FOUND, which names those that there are. */
ADJ_PUBLIC const AdjFormat *adj_format_find (const char *name, GError **error);
/* The format of a file by its content. %NULL with ADJ_ERROR_PARSE, naming the expected formats,
 * when none fits. */
ADJ_PUBLIC const AdjFormat *adj_format_detect (const char *path, GError **error);
/* By extension, for writing; a folder is an .adjoint.  %NULL with ADJ_ERROR_NOT_FOUND. */
ADJ_PUBLIC const AdjFormat *adj_format_for_path (const char *path, GError **error);

/**
 * adj_bundle_load:
 * @path: a file, or a folder of one of the formats
 *
 * Returns: (transfer full) (nullable): %NULL with ADJ_ERROR_PARSE or ADJ_ERROR_LIMIT,
 * "path:line:column: …", or with an error of input and output
 */
ADJ_PUBLIC AdjBundle *adj_bundle_load (const char *path, GCancellable *cancellable, GError **error);

/**
 * adj_bundle_load_text:
 * @text: what was pasted or piped: the text of graphs, a console with TORCH_LOGS, or a TORCH_TRACE
 *   log; bytes that are no UTF-8 are replaced
 * @title: names it in lists and begins error messages: "clipboard"
 *
 * Returns: (transfer full) (nullable): %NULL with ADJ_ERROR_PARSE "title:line:column: …"
 */
ADJ_PUBLIC AdjBundle *
adj_bundle_load_text (const char *text, gssize length, const char *title, GError **error);

/* Gives what was read the classes and operators of @extensions, which must outlive its graphs; by
 * the one who loaded @bundle, before he shares it.  %FALSE with ADJ_ERROR_PARSE or the error of a
 * class, which names graph and node: then @bundle can only be freed. */
ADJ_PUBLIC gboolean adj_bundle_extend (AdjBundle *bundle,
                                       const AdjExtensions *extensions,
                                       GError **error);

/* (transfer full) (nullable): of the .adjoint file or folder at @path: as long as it is open nobody
 * else saves there.  %NULL with G_IO_ERROR. */
ADJ_PUBLIC AdjFileWriter *
adj_bundle_open_writer (const char *path, GCancellable *cancellable, GError **error);

/* Exporters that also serve the command line. */
/* (transfer full): DOT, a node per node, an edge per input. */
ADJ_PUBLIC char *adj_graph_print_dot (const AdjGraph *graph);
/* (transfer full): the file of the graph in .adjoint, with descriptions in place of tensors. */
ADJ_PUBLIC char *adj_graph_print_json (const AdjGraph *graph);

G_END_DECLS
