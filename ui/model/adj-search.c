/* SPDX-License-Identifier: MIT */
/* Searches nodes by words and by conditions such as op:, type: and >1mib. */

#include "model/adj-search.h"

#include <string.h>

#include "analysis/adj-modules.h"
#include "analysis/adj-node-bytes.h"
#include "ir/adj-graph.h"
#include "report/adj-properties.h"

typedef enum
{
  FIELD_NAME = 1 << 0,
  FIELD_OP = 1 << 1,
  FIELD_MODULE = 1 << 2,
  FIELD_ROLE = 1 << 3,
  FIELD_LINE = 1 << 4,
  FIELD_SHAPE = 1 << 5,
  FIELD_ANY = (1 << 6) - 1,
  FIELD_DTYPE = 1 << 6,
  FIELD_MORE_BYTES = 1 << 7,
  FIELD_FEWER_BYTES = 1 << 8,
} Field;

static const struct
{
  const char *prefix;
  Field field;
} prefixes[] = {
  { "name:", FIELD_NAME },         { "op:", FIELD_OP },
  { "module:", FIELD_MODULE },     { "role:", FIELD_ROLE },
  { "line:", FIELD_LINE },         { "shape:", FIELD_SHAPE },
  { "dtype:", FIELD_DTYPE },       { "bytes>", FIELD_MORE_BYTES },
  { "bytes<", FIELD_FEWER_BYTES },
};

/* Caches whether a shape contains a word, since a graph has few shapes. */
typedef struct
{
  const AdjTensorMeta *meta;
  gboolean contains;
} ShapeAnswer;

#define N_ANSWERS 16

typedef struct
{
  Field fields;
  const char *text; /* lower case */
  double bytes;     /* the number of the last two kinds of words */
  ShapeAnswer answers[N_ANSWERS];
  guint n_answers; /* number of cached answers, in a ring */
} Word;

/* "1mib", "64k", "1.5gb": powers of 1024. */
static double
parse_bytes (const char *text)
{
  static const char units[] = "kmgt";
  char *end;
  double number = g_ascii_strtod (text, &end);
  const char *unit = *end != '\0' ? strchr (units, *end) : NULL;

  for (gssize i = unit != NULL ? unit - units : -1; i >= 0; i--)
    number *= 1024;
  return number;
}

static Word
parse_word (const char *text)
{
  for (guint i = 0; i < G_N_ELEMENTS (prefixes); i++)
    if (g_str_has_prefix (text, prefixes[i].prefix))
      {
        const char *rest = text + strlen (prefixes[i].prefix);

        return (Word){ .fields = prefixes[i].field, .text = rest, .bytes = parse_bytes (rest) };
      }
  return (Word){ .fields = FIELD_ANY, .text = text };
}

/* Ignores ASCII case; @needle is lower case. */
static gboolean
contains (const char *text, const char *needle)
{
  char both[] = { needle[0], g_ascii_toupper (needle[0]), '\0' };
  gsize length = strlen (needle);

  if (text == NULL || length == 0)
    return length == 0;
  for (text = strpbrk (text, both); text != NULL; text = strpbrk (text + 1, both))
    if (g_ascii_strncasecmp (text, needle, length) == 0)
      return TRUE;
  return FALSE;
}

static gboolean
frames_contain (const AdjNode *node, const char *needle)
{
  for (guint i = 0; i < node->meta.n_frames; i++)
    {
      const AdjFrame *frame = &node->meta.frames[i];
      const char *colon = strrchr (needle, ':');

      if (contains (frame->file, needle) || contains (frame->function, needle) ||
          contains (frame->code, needle))
        return TRUE;
      if (colon != NULL && g_ascii_strtoull (colon + 1, NULL, 10) == frame->line)
        {
          g_autofree char *file = g_strndup (needle, (gsize) (colon - needle));

          if (contains (frame->file, file))
            return TRUE;
        }
    }
  return FALSE;
}

static gboolean
matches_type (const AdjGraph *graph, guint index, const Word *word)
{
  const AdjTensorMeta *meta = adj_properties_meta (adj_graph_get_node (graph, index));
  gint64 bytes;

  if (word->fields & FIELD_DTYPE)
    return meta != NULL && meta->dtype < ADJ_N_DTYPES &&
           (contains (adj_dtype_info (meta->dtype)->torch_name, word->text) ||
            contains (adj_dtype_info (meta->dtype)->code, word->text));
  bytes = adj_graph_get_node_bytes (graph, index);
  return bytes >= 0 && ((word->fields & FIELD_MORE_BYTES) ? (double) bytes > word->bytes
                                                          : (double) bytes < word->bytes);
}

/* Searches the title of its card where that is not its name: "clip · tensor pre-hook". */
static gboolean
title_contains (const AdjScene *scene, guint index, const char *needle)
{
  guint box = scene != NULL ? adj_scene_find_node (scene, (AdjNodeId){ index }) : ADJ_NO_BOX;
  const AdjSceneBox *card = box != ADJ_NO_BOX ? adj_scene_get_box (scene, box) : NULL;

  return card != NULL && card->kind == ADJ_BOX_NODE && card->node.index == index &&
         contains (card->title, needle);
}

static gboolean
same_shape (const AdjTensorMeta *a, const AdjTensorMeta *b)
{
  gsize size = sizeof a->shape.size[0] * a->shape.rank;

  return a == b || (a->dtype == b->dtype && a->shape.rank == b->shape.rank &&
                    memcmp (a->shape.size, b->shape.size, size) == 0);
}

static gboolean
shape_contains (const AdjGraph *graph, const AdjNode *node, Word *word)
{
  const AdjTensorMeta *meta = node->val.kind == ADJ_VALUE_META ? node->val.meta : NULL;
  g_autofree char *text = NULL;
  gboolean found;

  for (guint i = 0; meta != NULL && i < MIN (word->n_answers, N_ANSWERS); i++)
    if (same_shape (word->answers[i].meta, meta))
      return word->answers[i].contains;
  text = adj_properties_annotation (graph, node);
  found = contains (text, word->text);
  if (meta != NULL)
    word->answers[word->n_answers++ % N_ANSWERS] = (ShapeAnswer){ meta, found };
  return found;
}

static gboolean
matches (const AdjGraph *graph, const AdjScene *scene, guint index, Word *word)
{
  const AdjNode *node = adj_graph_get_node (graph, index);
  AdjRole role;

  if (word->fields & (FIELD_DTYPE | FIELD_MORE_BYTES | FIELD_FEWER_BYTES))
    return matches_type (graph, index, word);
  if ((word->fields & FIELD_NAME) &&
      (contains (node->name, word->text) || title_contains (scene, index, word->text)))
    return TRUE;
  if ((word->fields & FIELD_OP) && contains (node->target, word->text))
    return TRUE;
  if ((word->fields & FIELD_MODULE) &&
      contains (adj_graph_get_module_path (graph, index), word->text))
    return TRUE;
  if ((word->fields & FIELD_LINE) && frames_contain (node, word->text))
    return TRUE;
  if ((word->fields & FIELD_SHAPE) && shape_contains (graph, node, word))
    return TRUE;
  if (!(word->fields & FIELD_ROLE) || scene == NULL)
    return FALSE;
  role = adj_scene_get_role (scene, (AdjNodeId){ index });
  return role != ADJ_ROLE_NONE && contains (adj_role_name (role), word->text);
}

/* Rank: the exact name, a prefix of the name, a part of the name, the operator, anything else. */
static guint
rank_of (const AdjNode *node, const char *text)
{
  gsize length = strlen (text);

  if (g_ascii_strcasecmp (node->name, text) == 0)
    return 0;
  if (g_ascii_strncasecmp (node->name, text, length) == 0)
    return 1;
  if (contains (node->name, text))
    return 2;
  return contains (node->target, text) ? 3 : 4;
}

/* Sorts by rank, within it by order of execution. */
static GArray *
sort_by_rank (const AdjGraph *graph, const GArray *words, GArray *found)
{
  const char *text = words->len > 0 ? g_array_index (words, Word, 0).text : "";
  GArray *sorted = g_array_sized_new (FALSE, FALSE, sizeof (guint), found->len);
  g_autofree guint8 *ranks = g_new (guint8, found->len + 1);

  for (guint i = 0; i < found->len; i++)
    ranks[i] = (guint8) rank_of (adj_graph_get_node (graph, g_array_index (found, guint, i)), text);
  for (guint rank = 0; rank <= 4; rank++)
    for (guint i = 0; i < found->len; i++)
      if (ranks[i] == rank)
        g_array_append_val (sorted, g_array_index (found, guint, i));
  g_array_unref (found);
  return sorted;
}

GArray *
adj_search_run (const AdjGraph *graph, const AdjScene *scene, const char *query)
{
  g_autofree char *lower = g_ascii_strdown (query, -1);
  g_auto (GStrv) texts = g_strsplit_set (lower, " \t", -1);
  g_autoptr (GArray) words = g_array_new (FALSE, FALSE, sizeof (Word));
  GArray *found = g_array_new (FALSE, FALSE, sizeof (guint));

  for (guint i = 0; texts[i] != NULL; i++)
    if (*texts[i] != '\0')
      {
        Word word = parse_word (texts[i]);

        g_array_append_val (words, word);
      }
  for (guint i = 0; words->len > 0 && i < adj_graph_get_n_nodes (graph); i++)
    {
      gboolean all = TRUE;

      for (guint k = 0; all && k < words->len; k++)
        all = matches (graph, scene, i, &g_array_index (words, Word, k));
      if (all)
        g_array_append_val (found, i);
    }

  return sort_by_rank (graph, words, found);
}

static gboolean
node_matches (const AdjGraph *graph, const AdjNode *node, const GRegex *regex)
{
  g_autofree char *shape = NULL;

  if (g_regex_match (regex, node->name, 0, NULL) || g_regex_match (regex, node->target, 0, NULL) ||
      g_regex_match (regex, adj_node_get_module_path (node), 0, NULL))
    return TRUE;
  for (guint i = 0; i < node->meta.n_frames; i++)
    if (g_regex_match (regex, node->meta.frames[i].code, 0, NULL))
      return TRUE;
  shape = adj_properties_annotation (graph, node);
  return g_regex_match (regex, shape, 0, NULL);
}

GArray *
adj_search_match (const AdjGraph *graph, const char *pattern, GError **error)
{
  g_autoptr (GRegex) regex = g_regex_new (pattern, G_REGEX_CASELESS | G_REGEX_OPTIMIZE, 0, error);
  GArray *found;

  if (regex == NULL)
    return NULL;
  found = g_array_new (FALSE, FALSE, sizeof (guint));
  for (guint i = 0; *pattern != '\0' && i < adj_graph_get_n_nodes (graph); i++)
    if (node_matches (graph, adj_graph_get_node (graph, i), regex))
      g_array_append_val (found, i);
  return found;
}
