/* SPDX-License-Identifier: MIT */
#pragma once

#include "formats/tensor-files-private.h"
#include "formats/value-json-private.h"

G_BEGIN_DECLS

/* Calls of the manifest of an .adjoint, and runs that were kept, which are written alike: a run has
 * a member "run" that says who computed it. */
typedef struct
{
  const JsonReader *json;
  ValueReader values;
  TensorFiles *files;
  AdjBundleBuilder *builder;
  AdjDiags *diags;
} CallReader;

gboolean call_read (const CallReader *reader, const JsonItem *item, GError **error);
/* Reads the known inputs of a graph without a recorded call. */
gboolean weights_read (const CallReader *reader, const JsonItem *item, GError **error);
/* A run that cannot be read is left out with a warning; the rest of the file does not depend on it.
 */
void run_read (const CallReader *reader, const JsonItem *item);

G_END_DECLS
