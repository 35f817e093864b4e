/* SPDX-License-Identifier: MIT */
#pragma once

#include "formats/adj-bundle.h"

G_BEGIN_DECLS

/* A bundle in the making from a log: graphs arrive as text, each with the compile id of its
 * region, in any order. */
typedef struct _Regions Regions;

/* The parts of a compile id; -1 where one is absent. */
typedef struct
{
  gint rank;
  gint64 compiled_autograd;
  gint64 frame;
  gint64 compile;
  gint64 attempt;
  gint process; /* index of the process among those that wrote graphs of one rank, from 0 */
} RegionKey;

Regions *regions_new (void);
/* Graphs come from several files: remarks name the file. */
void regions_name_files (Regions *regions);
void regions_free (Regions *regions);

/* Applies to all graphs of the region that are added later; texts are copied. */
void regions_define_symbol (Regions *regions, const RegionKey *key, const AdjSymbol *symbol);

/* The Python expression that an input of the region's Dynamo graph came from; placeholders of
 * graphs that are added later get it. */
void regions_add_source (Regions *regions, const RegionKey *key, const char *source);

/* What AOTAutograd knows of the region, as it prints it; the first that can be read counts. */
void regions_set_metadata (Regions *regions, const RegionKey *key, const char *text);

/* Why compiled autograd captured the region's graph, in the order of adding; the text is copied. */
void regions_add_reason (Regions *regions, const RegionKey *key, const char *text);

/* Adds a fact about the region, or about none that has a graph: a text in line @line of the file
 * @file.  Facts beyond the limit are left out, with one remark. */
void regions_add_fact (Regions *regions,
                       const RegionKey *key,
                       const char *name,
                       const char *text,
                       const char *file,
                       guint line);
/* The release of PyTorch that wrote the log. */
void regions_set_torch_version (Regions *regions, const char *version);

/* Whether the region has a graph of @role, or any when that is %NULL. */
gboolean regions_has_graph (Regions *regions, const RegionKey *key, const char *role);

/* Parses @text, which begins in @line of the file @name.  Problems are diagnostics of the bundle;
 * only too many graphs are an error. */
gboolean regions_add_graph (Regions *regions,
                            const RegionKey *key,
                            const char *role,
                            const char *text,
                            const char *name,
                            guint line,
                            GError **error);
void
regions_warn (Regions *regions, const char *name, guint line, const char *what, const char *why);

/* Sets the remark that the file @name is skipped from line @line on, because of @why; "" removes
 * it.  A later call for the same file replaces it. */
void regions_set_skipped (Regions *regions, const char *name, guint line, const char *why);

/* (transfer full): what has been added so far; @regions may be added to afterwards, and graphs of
 * the next bundle are the same objects.  Fails when @path held no graph. */
AdjBundle *
regions_make_bundle (Regions *regions, const char *path, const char *description, GError **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (Regions, regions_free)

G_END_DECLS
