/* SPDX-License-Identifier: MIT */
#pragma once

#include "support/zip-bytes.h"

/* The rows of the readers' test list (formats/SPEC.md §8): damaged but legible files are shown,
 * with remarks that name the place; others are refused with one line that names the place.
 *
 * A file consists of @contents; with @parts it is an archive of those, and with @header a
 * safetensors file: the length of the header, the header, @contents. */
typedef struct
{
  const char *what;
  const char *name;                   /* name of the file */
  const char *contents;               /* (nullable) */
  gsize length;                       /* bytes of @contents; 0: up to the NUL */
  const ZipPart *parts;               /* (nullable) */
  const char *header;                 /* (nullable) */
  void (*damage) (GByteArray *bytes); /* (nullable): applied last */
  const char *takes;  /* (nullable): annotation of the graph's input, "f32[2][1]cpu" */
  int status;         /* exit status of the command line: 0 or 2 */
  const char *out;    /* (nullable): text expected on stdout; on stderr if refused */
  const char *remark; /* (nullable): text expected on stderr although the file is shown */
} AdjBadFile;

typedef struct
{
  const char *name;
  const AdjBadFile *files;
  guint n;
} AdjBadList;

/* Files to open. */
extern const AdjBadList adj_bad_logs, adj_bad_texts, adj_bad_exports;
extern const AdjBadList adj_bad_archives;       /* .adjoint files for what row 3 says of every
                                                   archive */
extern const AdjBadList *const adj_bad_lists[]; /* all lists, ended by %NULL */

/* Rows 4 and 5: files for input "x" of a run of adj_bad_file_taker(). */
extern const AdjBadList adj_bad_pickles, adj_bad_tensors;
/* (transfer full): the text of a graph that returns its input, a tensor "x" */
char *adj_bad_file_taker (const AdjBadFile *file);

/* (transfer full) */
GBytes *adj_bad_file_get_bytes (const AdjBadFile *file);
/* (transfer full): the path of the row's file, written to @folder. */
char *adj_bad_file_write (const AdjBadFile *file, const char *folder);
