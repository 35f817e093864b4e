/* SPDX-License-Identifier: MIT */
/* One change of a stage, or several that are equal, with the reason. */

#include "report/adj-stage-change.h"

#include "report/stage-change-private.h"

#define MAX_NAMES 4 /* of equal changes that are written out */

G_DEFINE_FINAL_TYPE (AdjStageChange, adj_stage_change, G_TYPE_OBJECT)

static void
adj_stage_change_finalize (GObject *object)
{
  AdjStageChange *self = ADJ_STAGE_CHANGE (object);

  g_array_unref (self->nodes);
  g_string_free (self->what, TRUE);
  g_free (self->why);

  G_OBJECT_CLASS (adj_stage_change_parent_class)->finalize (object);
}

static void
adj_stage_change_class_init (AdjStageChangeClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = adj_stage_change_finalize;
}

static void
adj_stage_change_init (AdjStageChange *self)
{
  self->nodes = g_array_new (FALSE, FALSE, sizeof (AdjNodeId));
  self->what = g_string_new (NULL);
}

AdjChangeKind
adj_stage_change_get_kind (AdjStageChange *self)
{
  return self->kind;
}

guint
adj_stage_change_get_count (AdjStageChange *self)
{
  return self->count;
}

gboolean
adj_stage_change_is_metadata (AdjStageChange *self)
{
  return self->is_metadata;
}

AdjNodeId
adj_stage_change_get_after (AdjStageChange *self)
{
  return self->nodes->len > 0 ? g_array_index (self->nodes, AdjNodeId, 0) : ADJ_NO_NODE;
}

AdjNodeId
adj_stage_change_get_before (AdjStageChange *self)
{
  return self->nodes->len > 0 ? g_array_index (self->nodes, AdjNodeId, 1) : ADJ_NO_NODE;
}

const char *
adj_stage_change_get_what (AdjStageChange *self)
{
  return self->what->str;
}

const char *
adj_stage_change_get_why (AdjStageChange *self)
{
  return self->why;
}

void
adj_stage_change_add_nodes (AdjStageChange *row, AdjNodeId after, AdjNodeId before)
{
  g_array_append_val (row->nodes, after);
  g_array_append_val (row->nodes, before);
}

void
adj_stage_change_add_name (AdjStageChange *row, const char *name)
{
  if (row->count < MAX_NAMES)
    g_string_append_printf (row->what, "%s%s", row->count > 0 ? ", " : "", name);
  else if (row->count == MAX_NAMES)
    g_string_append (row->what, " …");
  row->count++;
}
