/* SPDX-License-Identifier: MIT */
#pragma once

#include "scene/adj-scene.h"

G_BEGIN_DECLS

typedef struct
{
  float red, green, blue, alpha;
} AdjColor;

typedef enum
{
  ADJ_SCHEME_LIGHT,
  ADJ_SCHEME_DARK,
  ADJ_SCHEME_HIGH_CONTRAST_LIGHT,
  ADJ_SCHEME_HIGH_CONTRAST_DARK,
  ADJ_N_SCHEMES,
} AdjScheme;

typedef struct
{
  AdjColor background;
  AdjColor card;
  AdjColor card_frame;
  AdjColor text;
  AdjColor dim_text;
  AdjColor group;
  AdjColor group_frame;
  AdjColor gutter;      /* the band behind bridges */
  AdjColor bridge_fill; /* of a bridge's pill */
  AdjColor chip_fill;
  AdjColor copy_fill; /* of a recompute copy */
  AdjColor sign_text; /* on a disc in the role's colour */
  AdjColor selection;
  AdjColor edges[ADJ_N_EDGE_KINDS];
  AdjColor roles[ADJ_N_ROLES]; /* frame, stripe and sign; NONE: the card's frame */
  float frame_width;           /* of a card */
} AdjPalette;

/* Returns a static table. */
ADJ_PUBLIC const AdjPalette *adj_palette_get (AdjScheme scheme);

/* How the frame of a role is drawn; colour is never the only signal. */
typedef enum
{
  ADJ_FRAME_SOLID,
  ADJ_FRAME_DOUBLE,
  ADJ_FRAME_DASHED,
  ADJ_FRAME_HEAVY_DASHED,
  ADJ_FRAME_DOTTED,
  ADJ_FRAME_THICK,
} AdjFrameStyle;

ADJ_PUBLIC AdjFrameStyle adj_role_frame (AdjRole role);
/* Whether cards of @role have the stripe at their left edge, and whether it is hatched. */
ADJ_PUBLIC gboolean adj_role_has_stripe (AdjRole role);
ADJ_PUBLIC gboolean adj_role_is_hatched (AdjRole role);

G_END_DECLS
