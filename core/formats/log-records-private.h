/* SPDX-License-Identifier: MIT */
#pragma once

#include "formats/json-private.h"
#include "formats/regions-private.h"

G_BEGIN_DECLS

/* What all files of a TORCH_TRACE log share. */
typedef struct
{
  Regions *regions;
  GHashTable *processes; /* (owned) (nullable) rank + 1 → number of its processes */
} LogRecords;

/* What the records of one file refer to. */
typedef struct
{
  LogRecords *log;
  const char *name;
  gint rank;                 /* from its name; -1 */
  guint n_compiled_autograd; /* graphs without an id, numbered in file order */
  gint process;              /* index among the processes of this rank; -1: not known yet */
  GHashTable *table;         /* (owned) (nullable) index → text */
} LogScope;

void log_records_clear (LogRecords *log);
void log_scope_clear (LogScope *scope);
/* Nothing has been read of the file yet. */
void log_scope_start (LogScope *scope);

/* Adds the content of @record, in line @line, with @payload, which may be empty.  A malformed
 * record is a remark; only too many graphs are an error. */
gboolean log_take_record (
    LogScope *scope, const JsonItem *record, const char *payload, guint line, GError **error);

G_END_DECLS
