/* SPDX-License-Identifier: MIT */
#pragma once

#include "ir/adj-graph.h"
#include "layout/adj-display-list.h"
#include "scene/adj-font.h"

G_BEGIN_DECLS

static inline const AdjNode *
adj_display_list_node (const AdjDisplayList *self, guint32 index)
{
  return adj_graph_get_node (self->roles->graph, index);
}

/* Keeps @text (transfer full) as long as the list. */
const char *display_list_keep (AdjDisplayList *self, char *text);
/* @text, or as much of it as there is room for.  The list keeps it. */
const char *
display_list_fit (AdjDisplayList *self, AdjFont font, float size, const char *text, float width);
/* The last two parts of the path of a parameter, or the name of an input. */
const char *display_list_name_input (const AdjDisplayList *self, guint32 index);
/* The class of an object without its namespace. */
const char *display_list_name_class (AdjDisplayList *self, guint32 index);
/* @text with two digits for every number: equal blocks differ in numbers, and are to stay equal.
 * (transfer full) */
char *display_text_without_numbers (const char *text);

/* Finds what reads what from far away; every node has its item. */
void display_list_find_far_reads (AdjDisplayList *self);
/* Whether the item @reader names @maker, which it reads, or is named by it: there is no line. */
gboolean display_list_names_far (const AdjDisplayList *self, guint32 maker, guint32 reader);

/* Whether @host, an input or a constant, is shown by a chip at @item, which reads it: there is no
 * line from where it stands, if it stands anywhere. */
gboolean display_list_sticks (const AdjDisplayList *self, guint32 host, guint32 item);
/* Chips on the items, and which of them shows each node; every other node has its item. */
void display_list_make_chips (AdjDisplayList *self);
/* Links from what the items read of each other; every node has its item. */
void adj_display_list_make_links (AdjDisplayList *self);
/* What backward reads from each forward item, and all of it, each storage once. */
void adj_display_list_sum_saved (AdjDisplayList *self);

/* What any of @n stages shows, with what @shown has not marked as absent; the lists must outlive
 * it.
 * @rows: (out) (transfer full): its rows.  (transfer full) */
AdjDisplayList *
display_list_join (AdjDisplayList *const *lists, guint n, guint shown, AdjRows **rows);

G_END_DECLS
