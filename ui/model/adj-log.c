/* SPDX-License-Identifier: MIT */
/* The log of a document as a list model. */

#include "model/adj-log.h"

#include <gio/gio.h>

#define MAX_LINES 2000

struct _AdjLogItem
{
  GObject parent_instance;

  AdjLogKind kind;
  char *time;
  char *text;
};

G_DEFINE_FINAL_TYPE (AdjLogItem, adj_log_item, G_TYPE_OBJECT)

static void
adj_log_item_finalize (GObject *object)
{
  AdjLogItem *self = ADJ_LOG_ITEM (object);

  g_free (self->time);
  g_free (self->text);

  G_OBJECT_CLASS (adj_log_item_parent_class)->finalize (object);
}

static void
adj_log_item_class_init (AdjLogItemClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = adj_log_item_finalize;
}

static void
adj_log_item_init (AdjLogItem *self)
{
}

AdjLogKind
adj_log_item_get_kind (AdjLogItem *self)
{
  return self->kind;
}

const char *
adj_log_item_get_time (AdjLogItem *self)
{
  return self->time;
}

const char *
adj_log_item_get_text (AdjLogItem *self)
{
  return self->text;
}

void
adj_log_add (GListStore *log, AdjLogKind kind, const char *format, ...)
{
  g_autoptr (AdjLogItem) item = g_object_new (ADJ_TYPE_LOG_ITEM, NULL);
  g_autoptr (GDateTime) now = g_date_time_new_now_local ();
  va_list args;

  va_start (args, format);
  item->text = g_strdup_vprintf (format, args);
  va_end (args);
  item->time = g_date_time_format (now, "%H:%M:%S");
  item->kind = kind;
  if (g_list_model_get_n_items (G_LIST_MODEL (log)) >= MAX_LINES)
    g_list_store_remove (log, 0);
  g_list_store_append (log, item);
}
