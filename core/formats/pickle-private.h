/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/adj-arena.h"
#include "base/adj-error.h"

G_BEGIN_DECLS

/* What a pickle of Python describes, as data (formats/SPEC.md §11): a call stays the name of what
 * would be called with its arguments, and nothing is looked up or run. */
typedef struct _PickleItem PickleItem;

typedef enum
{
  PICKLE_NONE,
  PICKLE_BOOL,
  PICKLE_INT,
  PICKLE_FLOAT,
  PICKLE_TEXT,
  PICKLE_BYTES,
  PICKLE_TUPLE,
  PICKLE_LIST,
  PICKLE_DICT, /* items: key, value, key, value …; n counts both */
  PICKLE_SET,
  PICKLE_GLOBAL,     /* text: "module.name" */
  PICKLE_CALL,       /* items: the callee, its arguments, what is put into the object: LIST, DICT */
  PICKLE_PERSISTENT, /* items: the id of something that lies beside the pickle */
} PickleKind;

struct _PickleItem
{
  PickleKind kind;
  guint n;        /* entries of items; bytes of text */
  guint capacity; /* of items */
  union
  {
    gint64 integer; /* of BOOL too */
    double number;
    const char *text; /* with a NUL behind its end */
    PickleItem **items;
  };
  PickleItem *state; /* (nullable): of CALL: the argument of its __setstate__ */
};

/**
 * pickle_read:
 * @arena: all items live in it
 * @name: begins messages: "name: at byte 12: …"
 *
 * Protocols 2 to 5.  Items may be shared and may contain themselves: a walk must bound its steps.
 *
 * Returns: (transfer none) (nullable): %NULL with ADJ_ERROR_PARSE or ADJ_ERROR_LIMIT
 */
PickleItem *
pickle_read (AdjArena *arena, const guint8 *data, gsize length, const char *name, GError **error);

/* The same of the pickle at byte @at of @data: @at: (inout): the byte behind it; @ids: (nullable):
 * gets the PERSISTENT items that it makes. */
PickleItem *pickle_read_next (AdjArena *arena,
                              const guint8 *data,
                              gsize length,
                              const char *name,
                              gsize *at,
                              GPtrArray *ids,
                              GError **error);

/* Whether a file that begins with @head is a pickle of protocol 2 to 5, and not safetensors whose
 * header is as long as those bytes say. */
gboolean pickle_is (const guint8 *head, gsize length);

/* (nullable): the value of the text @key in a DICT; %NULL when @item (nullable) is none. */
const PickleItem *pickle_get (const PickleItem *item, const char *key);
/* The texts and numbers of members; @fallback where they are missing or something else. */
const char *pickle_get_text (const PickleItem *item, const char *key); /* (nullable) */
gint64 pickle_get_int (const PickleItem *item, const char *key, gint64 fallback);
/* Whether @item calls the global @name. */
gboolean pickle_calls (const PickleItem *item, const char *name);
/* (nullable): the container of @kind that was put into the object that a CALL makes */
PickleItem *pickle_get_contents (const PickleItem *item, PickleKind kind);
/* (nullable): argument @index of a CALL */
PickleItem *pickle_argument (const PickleItem *item, guint index);

G_END_DECLS
