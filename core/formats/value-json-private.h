/* SPDX-License-Identifier: MIT */
#pragma once

#include "formats/json-private.h"
#include "ir/adj-builder.h"

G_BEGIN_DECLS

/* Values as JSON (formats/SPEC.md §5.4): null, booleans, numbers, strings and arrays (lists) are
 * themselves, everything else is an object of one key that begins with '$'.
 *
 * A tag that we do not know, or whose content we have no kind for, becomes a RAW value whose text
 * is the JSON, and is written back as it was. */

/* Find what {"$tensor": @place} and {"$graph": @id} name.  (transfer none) (nullable): %NULL with
 * an error that json_fail () made. */
typedef AdjTensorData *(*ValueTensorFunc) (gpointer data,
                                           const JsonReader *json,
                                           const JsonItem *place,
                                           GError **error);
typedef AdjGraph *(*ValueGraphFunc) (gpointer data,
                                     const JsonReader *json,
                                     const JsonItem *id,
                                     GError **error);

typedef struct _ValueReader ValueReader;
/* Makes what {"$object": @item} describes. */
typedef AdjOpaque *(*ValueObjectFunc) (gpointer data,
                                       const ValueReader *reader,
                                       const JsonItem *item,
                                       GError **error);

struct _ValueReader
{
  const JsonReader *json;  /* names the file in messages */
  AdjArena *arena;         /* owns the values, except for references */
  AdjSymbols *symbols;     /* of sizes */
  const JsonItem *strings; /* (nullable): the table of {"$str": k} */
  AdjBuilder *nodes;       /* (nullable): where {"$n": name} is looked up */
  gboolean plain;          /* objects without '$' are dicts of their members */
  ValueTensorFunc get_tensor;
  ValueGraphFunc get_graph;
  ValueObjectFunc get_object;
  gpointer data;
};

gboolean
value_read (const ValueReader *reader, const JsonItem *item, AdjValue *out, GError **error);
/* "val" of a node: annotations are strings, several results an array. */
gboolean value_read_annotation (const ValueReader *reader,
                                const JsonItem *item,
                                AdjValue *out,
                                GError **error);
/* A text, or {"$str": k}; fails on everything else. */
const char *value_read_text (const ValueReader *reader, const JsonItem *item, GError **error);

typedef struct
{
  const AdjGraph *graph; /* (nullable): names nodes */
  AdjSymbols *symbols;   /* (nullable) */
  gboolean plain;
  /* (nullable): append [file, key, …] and the id of a graph. */
  gboolean (*put_tensor) (gpointer data, AdjTensorData *tensor, GString *out, GError **error);
  gboolean (*put_graph) (gpointer data, AdjGraph *graph, GString *out, GError **error);
  /* (nullable): the number and (transfer none) state of an object; %NULL: with an error. */
  const AdjValue *(*get_state) (gpointer data, AdjOpaque *object, guint *id, GError **error);
  gpointer data;
} ValueWriter;

/* Fails for what a file cannot hold: tensors of a context, objects of no class.  Unless @writer
 * has `put_tensor`, these and constants are only described. */
gboolean
value_write (const ValueWriter *writer, const AdjValue *value, GString *out, GError **error);
gboolean value_write_annotation (const ValueWriter *writer,
                                 const AdjValue *value,
                                 GString *out,
                                 GError **error);

G_END_DECLS
