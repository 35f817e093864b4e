/* SPDX-License-Identifier: MIT */
#pragma once

#include <gio/gio.h>

G_BEGIN_DECLS

typedef enum
{
  ADJ_LOG_DONE,
  ADJ_LOG_WARNING,
  ADJ_LOG_PROBLEM,
} AdjLogKind;

/* One entry of the log. */
#define ADJ_TYPE_LOG_ITEM (adj_log_item_get_type ())
G_DECLARE_FINAL_TYPE (AdjLogItem, adj_log_item, ADJ, LOG_ITEM, GObject)

AdjLogKind adj_log_item_get_kind (AdjLogItem *self);
const char *adj_log_item_get_time (AdjLogItem *self); /* "14:03:12" */
const char *adj_log_item_get_text (AdjLogItem *self);

/* @log: made with g_list_store_new (ADJ_TYPE_LOG_ITEM).  The oldest entries are dropped beyond a
 * limit. */
void adj_log_add (GListStore *log, AdjLogKind kind, const char *format, ...) G_GNUC_PRINTF (3, 4);

G_END_DECLS
