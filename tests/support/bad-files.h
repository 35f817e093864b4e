/* SPDX-License-Identifier: MIT */
#pragma once

#include <glib.h>

/* The rows of the readers' test list (formats §8): what is damaged but legible is shown, with
 * remarks that say where; what is not is refused with one line that names the place. */
typedef struct
{
  const char *what;
  const char *name; /* of the file */
  const char *contents;
  gsize length;       /* 0: up to the NUL */
  int status;         /* of the command line: 0 or 2 */
  const char *out;    /* (nullable): what stdout mentions; stderr when refused */
  const char *remark; /* (nullable): what stderr mentions although it is shown */
} AdjBadFile;

/* Rows 1 to 4. */
const AdjBadFile *adj_bad_files_get (guint *n);
/* Row 5, given to adj_bad_file_taker() as inputs: all are refused. */
const AdjBadFile *adj_bad_tensors_get (guint *n);
/* The text of a graph that takes one tensor, "x". */
const char *adj_bad_file_taker (void);

/* Writes the file of a row into @folder.  (transfer full): its path */
char *adj_bad_file_write (const AdjBadFile *file, const char *folder);
