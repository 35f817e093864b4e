/* SPDX-License-Identifier: MIT */
/* Layouts of texts that are painted again and again. */

#include "canvas/adj-text-cache.h"

#include "scene/adj-scene.h"

#define MAX_ENTRIES 4000

typedef struct
{
  AdjTextStyle style;
  const char *text;
} Key;

typedef struct
{
  Key key; /* text is owned */
  PangoLayout *layout;
  float width, height;
  GList link; /* in the queue; data is the entry */
} Entry;

struct _AdjTextCache
{
  GtkWidget *widget; /* (unowned) */
  GHashTable *entries;
  GQueue recent;         /* newest first */
  PangoContext *context; /* (owned) (nullable): made on first use */
  PangoAttrList *attributes[ADJ_N_TEXT_STYLES];
};

static const struct
{
  float size;
  PangoWeight weight;
} styles[ADJ_N_TEXT_STYLES] = {
  [ADJ_TEXT_TITLE] = { ADJ_TITLE_SIZE, PANGO_WEIGHT_BOLD },
  [ADJ_TEXT_TITLE_PLAIN] = { ADJ_TITLE_SIZE, PANGO_WEIGHT_NORMAL },
  [ADJ_TEXT_SUBTITLE] = { ADJ_SUBTITLE_SIZE, PANGO_WEIGHT_NORMAL },
  [ADJ_TEXT_CHIP] = { ADJ_CHIP_TEXT_SIZE, PANGO_WEIGHT_BOLD },
  [ADJ_TEXT_HEADER] = { ADJ_HEADER_TEXT_SIZE, PANGO_WEIGHT_BOLD },
  [ADJ_TEXT_SIGN] = { 9, PANGO_WEIGHT_BOLD },
};

static guint
key_hash (gconstpointer data)
{
  const Key *key = data;

  return g_str_hash (key->text) * 31 + key->style;
}

static gboolean
key_equal (gconstpointer a, gconstpointer b)
{
  const Key *x = a, *y = b;

  return x->style == y->style && g_str_equal (x->text, y->text);
}

static void
entry_free (gpointer data)
{
  Entry *entry = data;

  g_free ((char *) entry->key.text);
  g_object_unref (entry->layout);
  g_free (entry);
}

static PangoAttrList *
make_attributes (AdjTextStyle style)
{
  PangoAttrList *list = pango_attr_list_new ();

  pango_attr_list_insert (list, pango_attr_size_new_absolute (styles[style].size * PANGO_SCALE));
  pango_attr_list_insert (list, pango_attr_weight_new (styles[style].weight));
  return list;
}

AdjTextCache *
adj_text_cache_new (GtkWidget *widget)
{
  AdjTextCache *cache = g_new0 (AdjTextCache, 1);

  cache->widget = widget;
  cache->entries = g_hash_table_new_full (key_hash, key_equal, NULL, entry_free);
  g_queue_init (&cache->recent);
  for (guint i = 0; i < ADJ_N_TEXT_STYLES; i++)
    cache->attributes[i] = make_attributes (i);
  return cache;
}

void
adj_text_cache_free (AdjTextCache *cache)
{
  g_hash_table_unref (cache->entries);
  g_clear_object (&cache->context);
  for (guint i = 0; i < ADJ_N_TEXT_STYLES; i++)
    pango_attr_list_unref (cache->attributes[i]);
  g_free (cache);
}

void
adj_text_cache_clear (AdjTextCache *cache)
{
  g_queue_init (&cache->recent);
  g_hash_table_remove_all (cache->entries);
  g_clear_object (&cache->context);
}

/* Texts are painted at any scale, so metrics are not rounded to pixels. */
static PangoContext *
make_context (GtkWidget *widget)
{
  PangoContext *context = gtk_widget_create_pango_context (widget);
  cairo_font_options_t *options = cairo_font_options_create ();

  cairo_font_options_set_hint_metrics (options, CAIRO_HINT_METRICS_OFF);
  cairo_font_options_set_hint_style (options, CAIRO_HINT_STYLE_NONE);
  cairo_font_options_set_antialias (options, CAIRO_ANTIALIAS_GRAY);
  pango_cairo_context_set_font_options (context, options);
  cairo_font_options_destroy (options);
  pango_context_set_round_glyph_positions (context, FALSE);
  return context;
}

static Entry *
add_entry (AdjTextCache *cache, AdjTextStyle style, const char *text)
{
  Entry *entry = g_new0 (Entry, 1);
  int width, height;

  entry->key = (Key){ style, g_strdup (text) };
  if (cache->context == NULL)
    cache->context = make_context (cache->widget);
  entry->layout = pango_layout_new (cache->context);
  pango_layout_set_text (entry->layout, text, -1);
  pango_layout_set_attributes (entry->layout, cache->attributes[style]);
  pango_layout_set_single_paragraph_mode (entry->layout, TRUE);
  pango_layout_get_size (entry->layout, &width, &height);
  entry->width = width / (float) PANGO_SCALE;
  entry->height = height / (float) PANGO_SCALE;
  entry->link.data = entry;
  g_hash_table_insert (cache->entries, &entry->key, entry);
  g_queue_push_head_link (&cache->recent, &entry->link);

  return entry;
}

PangoLayout *
adj_text_cache_get (
    AdjTextCache *cache, AdjTextStyle style, const char *text, float *width, float *height)
{
  Key key = { style, text };
  Entry *entry = g_hash_table_lookup (cache->entries, &key);

  if (entry == NULL)
    {
      if (cache->recent.length >= MAX_ENTRIES)
        {
          Entry *oldest = g_queue_pop_tail_link (&cache->recent)->data;

          g_hash_table_remove (cache->entries, &oldest->key);
        }
      entry = add_entry (cache, style, text);
    }
  else if (cache->recent.head != &entry->link)
    {
      g_queue_unlink (&cache->recent, &entry->link);
      g_queue_push_head_link (&cache->recent, &entry->link);
    }

  if (width != NULL)
    *width = entry->width;
  if (height != NULL)
    *height = entry->height;
  return entry->layout;
}
