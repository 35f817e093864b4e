/* SPDX-License-Identifier: MIT */
#pragma once

#include "support/zip-bytes.h"

/* The rows of the readers' test list (formats/SPEC.md §8): what is damaged but legible is shown,
 * with remarks that say where; what is not is refused with one line that names the place.
 *
 * The bytes of a file are @contents; with @parts an archive of those, and with @header a header of
 * safetensors, the number of its bytes before it and @contents behind it. */
typedef struct
{
  const char *what;
  const char *name;                   /* of the file */
  const char *contents;               /* (nullable) */
  gsize length;                       /* of @contents; 0: up to the NUL */
  const ZipPart *parts;               /* (nullable) */
  const char *header;                 /* (nullable) */
  void (*damage) (GByteArray *bytes); /* (nullable): what is done to it in the end */
  const char *takes;  /* (nullable): what the graph is annotated to take, "f32[2][1]cpu" */
  int status;         /* of the command line: 0 or 2 */
  const char *out;    /* (nullable): what stdout mentions; stderr when refused */
  const char *remark; /* (nullable): what stderr mentions although it is shown */
} AdjBadFile;

typedef struct
{
  const char *name;
  const AdjBadFile *files;
  guint n;
} AdjBadList;

/* Files to be opened. */
extern const AdjBadList adj_bad_logs, adj_bad_texts, adj_bad_exports;
extern const AdjBadList adj_bad_archives;       /* .adjoint, of what row 3 says of every archive */
extern const AdjBadList *const adj_bad_lists[]; /* all of these, %NULL at the end */

/* Rows 4 and 5: inputs "x" of a run of adj_bad_file_taker(). */
extern const AdjBadList adj_bad_pickles, adj_bad_tensors;
/* (transfer full): the text of a graph that returns what it takes, a tensor "x" */
char *adj_bad_file_taker (const AdjBadFile *file);

/* (transfer full) */
GBytes *adj_bad_file_get_bytes (const AdjBadFile *file);
/* Writes the file of a row into @folder.  (transfer full): its path */
char *adj_bad_file_write (const AdjBadFile *file, const char *folder);
