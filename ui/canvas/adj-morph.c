/* SPDX-License-Identifier: MIT */
/* Matches the boxes of two scenes, and moves them from one to the other. */

#include "canvas/adj-morph.h"

#include <math.h>

/* With more boxes the animation could be neither followed nor painted fast enough. */
#define MAX_BOXES 1500

struct _AdjMorph
{
  AdjScene *before, *after; /* (owned) */
  guint32 *from;            /* (owned): of each box of @after the one of @before, or ADJ_NO_BOX */
  guint32 *alike; /* (owned): the box that shows the same value, also as a chip beside its reader */
  AdjRect *rects; /* (owned): its present place */
  GArray *boxes, *ghosts; /* (owned): of guint */
  AdjPoint shift;
  float progress;
};

/* -- which is which -- */

/* Keys of boxes: frames by side and path, bridges by the value that crosses. */
static char *
make_key (const AdjSceneBox *box, guint32 node)
{
  if (box->kind == ADJ_BOX_GROUP && *box->path != '\0')
    return g_strdup_printf ("%d %s", box->side, box->path);
  if (box->kind == ADJ_BOX_BRIDGE && node != G_MAXUINT32)
    return g_strdup_printf ("value %u", node);
  return NULL;
}

/* (transfer full): key → box + 1 */
static GHashTable *
index_keys (const AdjScene *scene)
{
  GHashTable *keys = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);

  for (guint i = 0; i < adj_scene_get_n_boxes (scene); i++)
    {
      const AdjSceneBox *box = adj_scene_get_box (scene, i);
      char *key = make_key (box, box->node.index);

      if (key != NULL)
        g_hash_table_insert (keys, key, GUINT_TO_POINTER (i + 1));
    }
  return keys;
}

static guint32
find_from (const AdjMorph *self, guint index, const GArray *origins, GHashTable *keys)
{
  const AdjSceneBox *box = adj_scene_get_box (self->after, index);
  guint32 origin = box->node.index < origins->len
                       ? g_array_index (origins, guint32, box->node.index)
                       : G_MAXUINT32;
  g_autofree char *key = make_key (box, origin);
  guint found;

  if (key != NULL)
    {
      found = GPOINTER_TO_UINT (g_hash_table_lookup (keys, key));
      return found > 0 ? found - 1 : ADJ_NO_BOX;
    }
  if ((box->kind != ADJ_BOX_NODE && box->kind != ADJ_BOX_PILL) || origin == G_MAXUINT32)
    return ADJ_NO_BOX;
  found = adj_scene_find_node (self->before, (AdjNodeId){ origin });
  return found != ADJ_NO_BOX && adj_scene_get_box (self->before, found)->kind != ADJ_BOX_CHIP
             ? found
             : ADJ_NO_BOX;
}

static guint32
find_alike (const AdjMorph *self, guint index, const GArray *origins)
{
  AdjNodeId node = adj_scene_get_box (self->after, index)->node;
  guint32 origin =
      node.index < origins->len ? g_array_index (origins, guint32, node.index) : G_MAXUINT32;

  return origin != G_MAXUINT32 && adj_scene_find_node (self->after, node) == index
             ? adj_scene_find_node (self->before, (AdjNodeId){ origin })
             : ADJ_NO_BOX;
}

AdjMorph *
adj_morph_new (AdjScene *before, AdjScene *after, const GArray *origins)
{
  AdjMorph *self = g_new0 (AdjMorph, 1);
  guint n = adj_scene_get_n_boxes (after);
  g_autoptr (GHashTable) keys = index_keys (before);

  self->before = adj_scene_ref (before);
  self->after = adj_scene_ref (after);
  self->from = g_new (guint32, n);
  self->alike = g_new (guint32, n);
  self->rects = g_new (AdjRect, n);
  for (guint i = 0; i < n; i++)
    {
      self->from[i] = find_from (self, i, origins, keys);
      self->alike[i] = find_alike (self, i, origins);
      self->rects[i] = adj_scene_get_box (after, i)->rect;
    }
  self->boxes = g_array_new (FALSE, FALSE, sizeof (guint));
  self->ghosts = g_array_new (FALSE, FALSE, sizeof (guint));
  return self;
}

void
adj_morph_free (AdjMorph *morph)
{
  adj_scene_unref (morph->before);
  adj_scene_unref (morph->after);
  g_free (morph->from);
  g_free (morph->alike);
  g_free (morph->rects);
  g_array_unref (morph->boxes);
  g_array_unref (morph->ghosts);
  g_free (morph);
}

static gboolean
overlap (const AdjRect *a, const AdjRect *b)
{
  return a->x < b->x + b->width && b->x < a->x + a->width && a->y < b->y + b->height &&
         b->y < a->y + a->height;
}

/* A box that is in both scenes and visible in the one before. */
typedef struct
{
  AdjPoint shift;
  float away; /* distance from the middle of the visible part */
  guint n;    /* number of boxes with the same shift */
} Kept;

static gint64
key_of_shift (const AdjPoint *shift)
{
  guint64 x = (guint64) (gint64) roundf (shift->x);

  return (gint64) (x << 32 ^ (guint32) (gint32) roundf (shift->y));
}

/* Lists the boxes that both scenes have.  @pairs: by box of the later scene, the member `from`
 * (cards only) or `alike` (all boxes).  @wanted: only that box of the earlier scene; ADJ_NO_BOX:
 * all. (transfer full): of Kept */
static GArray *
find_kept (const AdjMorph *self, const guint32 *pairs, const AdjRect *visible, guint wanted)
{
  AdjPoint middle = { visible->x + visible->width / 2, visible->y + visible->height / 2 };
  GArray *all = g_array_new (FALSE, FALSE, sizeof (Kept));

  for (guint i = 0; i < adj_scene_get_n_boxes (self->after); i++)
    {
      const AdjSceneBox *box = adj_scene_get_box (self->after, i), *was;
      Kept kept = { { 0, 0 }, 0, 0 };

      if (pairs[i] == ADJ_NO_BOX || (wanted != ADJ_NO_BOX && pairs[i] != wanted) ||
          (pairs == self->from && box->kind != ADJ_BOX_NODE))
        continue;
      was = adj_scene_get_box (self->before, pairs[i]);
      if (!overlap (&was->rect, visible))
        continue;
      kept.shift = (AdjPoint){ box->rect.x - was->rect.x, box->rect.y - was->rect.y };
      kept.away = ABS (was->rect.x + was->rect.width / 2 - middle.x) +
                  ABS (was->rect.y + was->rect.height / 2 - middle.y);
      g_array_append_val (all, kept);
    }
  return all;
}

static void
count_alike (GArray *all)
{
  g_autoptr (GHashTable) counts = g_hash_table_new_full (g_int64_hash, g_int64_equal, g_free, NULL);

  for (guint pass = 0; pass < 2; pass++)
    for (guint i = 0; i < all->len; i++)
      {
        Kept *kept = &g_array_index (all, Kept, i);
        gint64 key = key_of_shift (&kept->shift);

        kept->n = GPOINTER_TO_UINT (g_hash_table_lookup (counts, &key));
        if (pass == 0)
          g_hash_table_insert (counts, g_memdup2 (&key, sizeof key),
                               GUINT_TO_POINTER (kept->n + 1));
      }
}

static const Kept *
find_most (const GArray *all)
{
  const Kept *best = NULL;

  for (guint i = 0; i < all->len; i++)
    {
      const Kept *kept = &g_array_index (all, Kept, i);

      if (best == NULL || kept->n > best->n || (kept->n == best->n && kept->away < best->away))
        best = kept;
    }
  return best;
}

/* The box of @all, or @nearest, that is nearest to the middle. */
static const Kept *
find_nearest (const GArray *all, const Kept *nearest)
{
  for (guint i = 0; i < all->len; i++)
    if (nearest == NULL || g_array_index (all, Kept, i).away < nearest->away)
      nearest = &g_array_index (all, Kept, i);
  return nearest;
}

static guint
count_seen (const AdjScene *scene, const AdjRect *visible)
{
  guint n = 0;

  for (guint i = 0; i < adj_scene_get_n_boxes (scene); i++)
    n += adj_scene_get_box (scene, i)->kind == ADJ_BOX_NODE &&
         overlap (&adj_scene_get_box (scene, i)->rect, visible);
  return n;
}

gboolean
adj_morph_find_shift (const AdjMorph *self,
                      const AdjRect *visible,
                      AdjNodeId selected,
                      AdjPoint *shift)
{
  guint wanted =
      adj_node_id_is_valid (selected) ? adj_scene_find_node (self->before, selected) : ADJ_NO_BOX;
  g_autoptr (GArray) one =
      wanted != ADJ_NO_BOX ? find_kept (self, self->alike, visible, wanted) : NULL;
  g_autoptr (GArray) cards = find_kept (self, self->from, visible, ADJ_NO_BOX);
  g_autoptr (GArray) alike = find_kept (self, self->alike, visible, ADJ_NO_BOX);
  const Kept *best = one != NULL ? find_nearest (one, NULL) : NULL;

  if (best == NULL)
    {
      count_alike (cards);
      best = find_most (cards);
      /* Halves of a partition have few cards in common, and each is at another place. */
      if (best == NULL || 2 * cards->len < count_seen (self->before, visible))
        best = find_nearest (alike, find_nearest (cards, NULL));
    }
  if (best != NULL)
    *shift = best->shift;
  return best != NULL;
}

/* -- on the way -- */

gboolean
adj_morph_begin (AdjMorph *self, AdjPoint shift, const AdjRect *visible)
{
  AdjRect seen = { visible->x - shift.x, visible->y - shift.y, visible->width, visible->height };
  guint n = adj_scene_get_n_boxes (self->before);
  g_autofree gboolean *used = g_new0 (gboolean, n);

  self->shift = shift;
  for (guint i = 0; i < adj_scene_get_n_boxes (self->after); i++)
    {
      const AdjSceneBox *was =
          self->from[i] != ADJ_NO_BOX ? adj_scene_get_box (self->before, self->from[i]) : NULL;

      if (was != NULL)
        used[self->from[i]] = TRUE;
      if (overlap (&adj_scene_get_box (self->after, i)->rect, visible) ||
          (was != NULL && overlap (&was->rect, &seen)))
        g_array_append_val (self->boxes, i);
    }
  for (guint i = 0; i < n; i++)
    {
      const AdjSceneBox *box = adj_scene_get_box (self->before, i);

      if (!used[i] && box->kind != ADJ_BOX_HEADER && overlap (&box->rect, &seen) &&
          (box->anchor == ADJ_NO_BOX || !used[box->anchor]))
        g_array_append_val (self->ghosts, i);
    }
  adj_morph_set_progress (self, 0);
  return self->boxes->len + self->ghosts->len <= MAX_BOXES;
}

static AdjRect
mix (const AdjRect *a, const AdjRect *b, float t)
{
  return (AdjRect){ a->x + (b->x - a->x) * t, a->y + (b->y - a->y) * t,
                    a->width + (b->width - a->width) * t, a->height + (b->height - a->height) * t };
}

/* Moves a chip with its card. */
static void
place_chip (AdjMorph *self, guint index)
{
  const AdjSceneBox *chip = adj_scene_get_box (self->after, index);
  const AdjRect *card = &adj_scene_get_box (self->after, chip->anchor)->rect;

  self->rects[index] = chip->rect;
  self->rects[index].x += self->rects[chip->anchor].x - card->x;
  self->rects[index].y += self->rects[chip->anchor].y - card->y;
}

void
adj_morph_set_progress (AdjMorph *self, float progress)
{
  float eased = 1 - (1 - progress) * (1 - progress) * (1 - progress);

  self->progress = progress;
  for (guint k = 0; k < self->boxes->len; k++)
    {
      guint i = g_array_index (self->boxes, guint, k);
      const AdjRect *to = &adj_scene_get_box (self->after, i)->rect;
      AdjRect was;

      if (self->from[i] == ADJ_NO_BOX)
        continue;
      was = adj_scene_get_box (self->before, self->from[i])->rect;
      was.x += self->shift.x;
      was.y += self->shift.y;
      self->rects[i] = mix (&was, to, eased);
    }
  for (guint k = 0; k < self->boxes->len; k++)
    {
      guint i = g_array_index (self->boxes, guint, k);

      if (adj_scene_get_box (self->after, i)->anchor != ADJ_NO_BOX)
        place_chip (self, i);
    }
}

float
adj_morph_get_progress (const AdjMorph *morph)
{
  return morph->progress;
}

AdjScene *
adj_morph_get_before (const AdjMorph *morph)
{
  return morph->before;
}

AdjPoint
adj_morph_get_shift (const AdjMorph *morph)
{
  return morph->shift;
}

const GArray *
adj_morph_get_boxes (const AdjMorph *morph)
{
  return morph->boxes;
}

const GArray *
adj_morph_get_ghosts (const AdjMorph *morph)
{
  return morph->ghosts;
}

const AdjRect *
adj_morph_get_rect (const AdjMorph *morph, guint box)
{
  return &morph->rects[box];
}

gboolean
adj_morph_stays (const AdjMorph *morph, guint box)
{
  guint card = adj_scene_get_box (morph->after, box)->anchor;

  return morph->from[card != ADJ_NO_BOX ? card : box] != ADJ_NO_BOX ||
         adj_scene_get_box (morph->after, box)->kind == ADJ_BOX_HEADER;
}
