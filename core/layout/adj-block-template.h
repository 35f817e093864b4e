/* SPDX-License-Identifier: MIT */
#pragma once

#include "layout/adj-placement.h"
#include "scene/adj-scene.h"

G_BEGIN_DECLS

/* A block template: one half of a row, routed, with coordinates relative to its upper left corner.
 * Made once for all blocks of equal structure. */

/* A line through the side of the block that faces the gutter. */
typedef struct
{
  guint32 card;
  float offset; /* from the middle of the card, downwards on the screen */
} AdjTemplatePin;

typedef struct
{
  float width, height; /* of the card itself */
  float left, right;   /* room for chips beside it */
} AdjTemplateCard;

/* The specification of a template: everything that its look depends on. */
typedef struct
{
  gboolean upwards; /* data flows up and the gutter is at the left (else down, at the right) */
  AdjBlockGraph *graph;
  guint32 n_lines; /* the first links, which are drawn; the others only keep ranks short */
  AdjTemplateCard *cards;
  guint n_pins;
  AdjTemplatePin *pins;
} AdjTemplateSpec;

typedef struct
{
  guint32 first, n; /* in the points of the template */
} AdjTemplatePath;

typedef struct
{
  float width, height;
  guint32 n_cards;
  AdjRect *cards;
  float *entries, *exits; /* x at the border where data comes in and goes out */
  AdjTemplatePath *links; /* of the drawn links, in the direction of the flow */
  AdjTemplatePath *pins;  /* from the border to the card */
  GArray *points;         /* of AdjPoint */
} AdjBlockTemplate;

AdjTemplateSpec *adj_template_spec_new (
    guint32 n_cards, guint32 n_entries, guint32 n_exits, guint32 n_links, guint n_pins);
void adj_template_spec_free (AdjTemplateSpec *order);
/* Equal specifications have equal keys: a SHA-256 in hexadecimal. */
char *adj_template_spec_get_key (const AdjTemplateSpec *order);

AdjBlockTemplate *adj_block_template_new (const AdjTemplateSpec *order,
                                          const AdjPlacement *placement);
void adj_block_template_free (AdjBlockTemplate *template);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (AdjTemplateSpec, adj_template_spec_free)
G_DEFINE_AUTOPTR_CLEANUP_FUNC (AdjBlockTemplate, adj_block_template_free)

G_END_DECLS
