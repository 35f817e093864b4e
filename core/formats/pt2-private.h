/* SPDX-License-Identifier: MIT */
#pragma once

#include "formats/adj-bundle-private.h"
#include "formats/json-private.h"
#include "formats/zip-private.h"

G_BEGIN_DECLS

/* The parts of an archive of torch.export (formats/SPEC.md §12). */

typedef struct
{
  const char *path; /* (unowned): begins messages */
  ZipArchive *archive;
  char *root; /* (owned): of the names of its entries; "" in the layout of 2.1 to 2.7 */
  AdjDiags *diags;
} Pt2Archive;

/* (transfer full) (nullable): the content of the entry @name in the archive's root folder; %NULL
 * without an error when there is none. */
GBytes *pt2_archive_read (Pt2Archive *archive, const char *name, guint64 max_bytes, GError **error);

/* The same, for torch_save_read(). */
AdjFilePart *pt2_archive_get_part (Pt2Archive *archive, const char *name, GError **error);

/* Weights and constants by their full names. */
typedef struct
{
  GHashTable *tensors; /* name → AdjTensorData */
  GHashTable *objects; /* name → AdjOpaque: class and state, not to be called */
} Pt2Weights;

/* (transfer full) (nullable): the object that a plain pickle describes (pt2-objects.c); %NULL with
 * @error. */
AdjOpaque *pt2_object_read (GBytes *bytes, const char *name, GError **error);
/* Whether @bytes are a pickle of their own, not an archive of torch.save. */
gboolean pt2_object_is (GBytes *bytes);

/* @model: "model", by which the archive calls the program.  What cannot be read is left out with a
 * remark; %FALSE when a whole list of them is damaged. */
gboolean
pt2_weights_read (Pt2Archive *archive, const char *model, Pt2Weights *weights, GError **error);
void pt2_weights_clear (Pt2Weights *weights);

/* What an archive holds of the inputs of one program. */
typedef struct
{
  Pt2Weights weights;
  GArray *samples; /* (owned) (nullable): AdjValue, inputs of the caller in order */
} Pt2Held;

/* (transfer full) (nullable): "3 files: …", all that a package of AOTInductor holds and what each
 * is (pt2-package.c); %NULL when it holds no compiled code. */
char *pt2_package_describe (const Pt2Archive *archive);

/* One program in the making. */
typedef struct
{
  const JsonReader *json; /* for messages */
  AdjArena *arena;
  AdjSymbols *symbols;
  const Pt2Held *held; /* (nullable) */
} Pt2Scope;

/* -- values (pt2-values.c) -- */

/* The one member of a union: its name in @kind. (nullable) */
const JsonItem *pt2_union (const JsonItem *item, const char **kind);
gboolean pt2_read_size (const Pt2Scope *scope, const JsonItem *item, AdjSize *out, GError **error);
/* A TensorMeta; @meta.shape.offset is that in the storage. */
gboolean pt2_read_tensor_meta (const Pt2Scope *scope,
                               const JsonItem *item,
                               AdjTensorMeta *meta,
                               GError **error);
/* Reads an argument or constant that refers to no value of the graph; %FALSE without an error when
 * it does refer to one. */
gboolean pt2_read_constant (
    const Pt2Scope *scope, const char *kind, const JsonItem *item, AdjValue *out, GError **error);

/* -- the graph (pt2-graph.c) -- */

/**
 * pt2_graph_read:
 * @graph: the member "graph" of a GraphModule
 * @signature: its signature
 *
 * Returns: (transfer full) (nullable): %NULL with ADJ_ERROR_PARSE, "name:line:column: …"
 */
AdjGraph *pt2_graph_read (const Pt2Scope *scope,
                          const JsonItem *graph,
                          const JsonItem *signature,
                          GError **error);

/* -- what it was called with (pt2-samples.c) -- */

/* One program of an archive. */
typedef struct
{
  Pt2Archive *archive;
  AdjBundleBuilder *builder;
  const char *model; /* (nullable): its name in the archive; %NULL in the old layout */
  const char *id;    /* of its graph */
  const JsonItem *root;
  Pt2Scope scope;
  Pt2Held held;
  AdjGraph *graph; /* (owned) */
} Pt2Program;

/* %FALSE when a list of weights is damaged. */
gboolean pt2_held_read (Pt2Program *program, GError **error);
void pt2_held_clear (Pt2Held *held);

/* (transfer none) (nullable): the tensor of the input that @spec, of "input_specs", describes.
 * @taken counts the samples of the inputs before it. */
const AdjTensorData *pt2_held_find (const Pt2Held *held, const JsonItem *spec, guint *taken);

/* Adds the call of @program by its sample inputs, or without them what it holds of its inputs. */
gboolean pt2_add_call (Pt2Program *program, const JsonItem *signature, GError **error);

/* -- what it says beside its graph (pt2-facts.c) -- */

void pt2_add_facts (const Pt2Program *program);

G_END_DECLS
