/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/adj-arena.h"
#include "base/adj-error.h"

G_BEGIN_DECLS

/* JSON as our formats need it: strict, with the place of every value, duplicate keys refused,
 * nesting bounded.  (A document model like json-glib's keeps one of two equal keys, accepts
 * comments and forgets where things stood.)
 *
 * A reader walks a document: json_read() takes one whole value, json_enter() and json_next() step
 * through a large container, so that only one of its entries is in memory at a time. */

#define JSON_MAX_DEPTH 64

typedef enum
{
  JSON_NULL,
  JSON_FALSE,
  JSON_TRUE,
  JSON_INT,
  JSON_FLOAT,
  JSON_STRING,
  JSON_ARRAY,
  JSON_OBJECT,
} JsonKind;

typedef struct _JsonItem JsonItem;

struct _JsonItem
{
  JsonKind kind;
  guint n;         /* entries of items; bytes of text */
  const char *key; /* (nullable): in an object */
  guint line, column;
  union
  {
    gint64 integer;
    double number;
    const char *text; /* UTF-8 without NUL */
    JsonItem *items;
  };
};

typedef struct
{
  const char *at, *end, *line_start;
  guint line;
  const char *name; /* (unowned): begins messages */
  guint depth;      /* containers entered */
  gboolean fresh;   /* the innermost one has not given an entry yet */
  guint n_items;    /* of the value being read */
  gboolean python;  /* NaN, Infinity and -Infinity, as Python writes them, are numbers */
  gboolean bits;    /* integers from 2⁶³ on are kept as their 64 bits */
} JsonReader;

/* @name begins messages: "@name:line:column: …".  Fails when @text is no UTF-8. */
gboolean json_reader_init (
    JsonReader *reader, const char *name, const char *text, gsize length, GError **error);

/* The next value whole; texts and items live in @arena. */
JsonItem *json_read (JsonReader *reader, AdjArena *arena, GError **error);
/* Steps into the next value, which must begin with @bracket, '{' or '['. */
gboolean json_enter (JsonReader *reader, char bracket, GError **error);
/* To the next entry of the container entered last, leaving it at its end: then @more is FALSE.  In
 * an object @key (nullable in arrays) gets its key, in @arena. */
gboolean
json_next (JsonReader *reader, AdjArena *arena, const char **key, gboolean *more, GError **error);
/* Only blanks may follow. */
gboolean json_finish (JsonReader *reader, GError **error);
/* One document. */
JsonItem *
json_parse (AdjArena *arena, const char *name, const char *text, gsize length, GError **error);

/* Sets ADJ_ERROR_PARSE "name:line:column: …" at @item, or where @reader stands when it is NULL. */
void
json_fail (const JsonReader *reader, const JsonItem *item, GError **error, const char *format, ...)
    G_GNUC_PRINTF (4, 5);

/* (nullable): the member of that name; %NULL when @object is none. */
const JsonItem *json_get (const JsonItem *object, const char *key);
/* The text of a string member; %NULL when it is missing or something else. */
const char *json_get_text (const JsonItem *object, const char *key);
/* The member as integer; @fallback when it is missing or something else. */
gint64 json_get_int (const JsonItem *object, const char *key, gint64 fallback);

/* Compact, with a blank after ',' and ':'. */
void json_print (const JsonItem *item, GString *out);
void json_print_string (const char *text, GString *out);
/* Shortest round-trip digits, always with '.' or 'e'.  @value must be finite. */
void json_print_float (double value, GString *out);

G_END_DECLS
