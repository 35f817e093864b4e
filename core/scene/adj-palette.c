/* SPDX-License-Identifier: MIT */
/* Colours, stripes and hatching of roles, light and dark. */

#include "scene/adj-palette.h"

#define RGBA(rgb, a)                                                                               \
  {                                                                                                \
    ((rgb) >> 16 & 255) / 255.0f, ((rgb) >> 8 & 255) / 255.0f, ((rgb) &255) / 255.0f, (a)          \
  }
#define RGB(rgb) RGBA (rgb, 1)

/* Six hue families, checked for contrast and for four kinds of colour sight. */
#define LIGHT_EDGES                                                                                \
  {                                                                                                \
    [ADJ_EDGE_DATA] = RGB (0x8e8e93), [ADJ_EDGE_BLOCK] = RGB (0x8e8e93),                           \
    [ADJ_EDGE_BRIDGE] = RGB (0xa87900), [ADJ_EDGE_GRADIENT] = RGB (0x8d2b82),                      \
    [ADJ_EDGE_RECOMPUTE] = RGB (0x046e56), [ADJ_EDGE_TURN] = RGB (0x8e8e93),                       \
    [ADJ_EDGE_CONTROL] = RGB (0x6a6671), [ADJ_EDGE_EFFECT] = RGB (0x930801)                        \
  }
#define LIGHT_ROLES(plain)                                                                         \
  {                                                                                                \
    [ADJ_ROLE_NONE] = RGB (plain), [ADJ_ROLE_SAVED] = RGB (0xa87900),                              \
    [ADJ_ROLE_MUST_SAVE] = RGB (0xa87900), [ADJ_ROLE_RECOMPUTED] = RGB (0x046e56),                 \
    [ADJ_ROLE_MUST_RECOMPUTE] = RGB (0x046e56), [ADJ_ROLE_RECOMPUTE_COPY] = RGB (0x046e56),        \
    [ADJ_ROLE_PLACEHOLDER] = RGB (0x4a96ca), [ADJ_ROLE_PARAMETER] = RGB (0x4a96ca),                \
    [ADJ_ROLE_GRADIENT] = RGB (0x8d2b82), [ADJ_ROLE_OUTPUT] = RGB (0x1f1f1f),                      \
    [ADJ_ROLE_HOOK] = RGB (0x6a6671), [ADJ_ROLE_OPAQUE] = RGB (0x930801),                          \
    [ADJ_ROLE_CUSTOM_BACKWARD] = RGB (0x930801), [ADJ_ROLE_ACCUMULATE] = RGB (0x8d2b82),           \
    [ADJ_ROLE_CALLBACKS] = RGB (0x6a6671), [ADJ_ROLE_OBJECT] = RGB (0x930801),                     \
    [ADJ_ROLE_OFFLOADED] = RGB (0x4a96ca), [ADJ_ROLE_UPDATE] = RGB (0x8d2b82)                      \
  }
#define DARK_EDGES                                                                                 \
  {                                                                                                \
    [ADJ_EDGE_DATA] = RGB (0x8a8a90), [ADJ_EDGE_BLOCK] = RGB (0x8a8a90),                           \
    [ADJ_EDGE_BRIDGE] = RGB (0xffd21f), [ADJ_EDGE_GRADIENT] = RGB (0xe63fae),                      \
    [ADJ_EDGE_RECOMPUTE] = RGB (0x5cf0ae), [ADJ_EDGE_TURN] = RGB (0x8a8a90),                       \
    [ADJ_EDGE_CONTROL] = RGB (0xa9a8b0), [ADJ_EDGE_EFFECT] = RGB (0xe08a4a)                        \
  }
#define DARK_ROLES(plain)                                                                          \
  {                                                                                                \
    [ADJ_ROLE_NONE] = RGB (plain), [ADJ_ROLE_SAVED] = RGB (0xffd21f),                              \
    [ADJ_ROLE_MUST_SAVE] = RGB (0xffd21f), [ADJ_ROLE_RECOMPUTED] = RGB (0x5cf0ae),                 \
    [ADJ_ROLE_MUST_RECOMPUTE] = RGB (0x5cf0ae), [ADJ_ROLE_RECOMPUTE_COPY] = RGB (0x5cf0ae),        \
    [ADJ_ROLE_PLACEHOLDER] = RGB (0x2ba0f0), [ADJ_ROLE_PARAMETER] = RGB (0x2ba0f0),                \
    [ADJ_ROLE_GRADIENT] = RGB (0xe63fae), [ADJ_ROLE_OUTPUT] = RGB (0xf6f5f4),                      \
    [ADJ_ROLE_HOOK] = RGB (0xa9a8b0), [ADJ_ROLE_OPAQUE] = RGB (0xe08a4a),                          \
    [ADJ_ROLE_CUSTOM_BACKWARD] = RGB (0xe08a4a), [ADJ_ROLE_ACCUMULATE] = RGB (0xe63fae),           \
    [ADJ_ROLE_CALLBACKS] = RGB (0xa9a8b0), [ADJ_ROLE_OBJECT] = RGB (0xe08a4a),                     \
    [ADJ_ROLE_OFFLOADED] = RGB (0x2ba0f0), [ADJ_ROLE_UPDATE] = RGB (0xe63fae)                      \
  }

static const AdjPalette palettes[ADJ_N_SCHEMES] = {
  [ADJ_SCHEME_LIGHT] = {
    .background = RGB (0xfcfcfc),
    .card = RGB (0xffffff),
    .card_frame = RGB (0xa8a8ae),
    .text = RGB (0x241f31),
    .dim_text = RGB (0x77767b),
    .group = RGB (0xf3f4fa),
    .group_frame = RGB (0xd2d4de),
    .gutter = RGB (0xfdf6e7),
    .bridge_fill = RGB (0xfdf1d2),
    .chip_fill = RGB (0xe6f1fa),
    .copy_fill = RGB (0xe3f2ec),
    .sign_text = RGB (0xffffff),
    .selection = RGB (0x1c71d8),
    .edges = LIGHT_EDGES,
    .roles = LIGHT_ROLES (0xa8a8ae),
    .frame_width = 1.2f,
  },
  [ADJ_SCHEME_DARK] = {
    .background = RGB (0x1e1e22),
    .card = RGB (0x36353b),
    .card_frame = RGB (0x6b6b73),
    .text = RGB (0xf6f5f4),
    .dim_text = RGB (0xb0afb6),
    .group = RGB (0x28282d),
    .group_frame = RGB (0x45454d),
    .gutter = RGB (0x2a2820),
    .bridge_fill = RGB (0x453c1c),
    .chip_fill = RGB (0x23384a),
    .copy_fill = RGB (0x23403a),
    .sign_text = RGB (0x1e1e22),
    .selection = RGB (0x78aeed),
    .edges = DARK_EDGES,
    .roles = DARK_ROLES (0x6b6b73),
    .frame_width = 1.2f,
  },
  [ADJ_SCHEME_HIGH_CONTRAST_LIGHT] = {
    .background = RGB (0xffffff),
    .card = RGB (0xffffff),
    .card_frame = RGB (0x3d3846),
    .text = RGB (0x000000),
    .dim_text = RGB (0x3d3846),
    .group = RGB (0xffffff),
    .group_frame = RGB (0x3d3846),
    .gutter = RGB (0xffffff),
    .bridge_fill = RGB (0xffffff),
    .chip_fill = RGB (0xffffff),
    .copy_fill = RGB (0xffffff),
    .sign_text = RGB (0xffffff),
    .selection = RGB (0x1a5fb4),
    .edges = LIGHT_EDGES,
    .roles = LIGHT_ROLES (0x3d3846),
    .frame_width = 2,
  },
  [ADJ_SCHEME_HIGH_CONTRAST_DARK] = {
    .background = RGB (0x000000),
    .card = RGB (0x000000),
    .card_frame = RGB (0xdeddda),
    .text = RGB (0xffffff),
    .dim_text = RGB (0xdeddda),
    .group = RGB (0x000000),
    .group_frame = RGB (0xdeddda),
    .gutter = RGB (0x000000),
    .bridge_fill = RGB (0x000000),
    .chip_fill = RGB (0x000000),
    .copy_fill = RGB (0x000000),
    .sign_text = RGB (0x000000),
    .selection = RGB (0x99c1f1),
    .edges = DARK_EDGES,
    .roles = DARK_ROLES (0xdeddda),
    .frame_width = 2,
  },
};

const AdjPalette *
adj_palette_get (AdjScheme scheme)
{
  g_return_val_if_fail (scheme < ADJ_N_SCHEMES, &palettes[0]);
  return &palettes[scheme];
}

static const struct
{
  AdjFrameStyle frame;
  gboolean stripe, hatched;
} forms[ADJ_N_ROLES] = {
  [ADJ_ROLE_SAVED] = { ADJ_FRAME_SOLID, TRUE, FALSE },
  [ADJ_ROLE_MUST_SAVE] = { ADJ_FRAME_DOUBLE, TRUE, FALSE },
  [ADJ_ROLE_RECOMPUTED] = { ADJ_FRAME_DASHED, TRUE, FALSE },
  [ADJ_ROLE_MUST_RECOMPUTE] = { ADJ_FRAME_HEAVY_DASHED, TRUE, FALSE },
  [ADJ_ROLE_RECOMPUTE_COPY] = { ADJ_FRAME_DASHED, TRUE, FALSE },
  [ADJ_ROLE_GRADIENT] = { ADJ_FRAME_SOLID, TRUE, FALSE },
  [ADJ_ROLE_OUTPUT] = { ADJ_FRAME_THICK, FALSE, FALSE },
  [ADJ_ROLE_HOOK] = { ADJ_FRAME_DOTTED, FALSE, FALSE },
  [ADJ_ROLE_OPAQUE] = { ADJ_FRAME_SOLID, TRUE, TRUE },
  [ADJ_ROLE_CUSTOM_BACKWARD] = { ADJ_FRAME_DOTTED, TRUE, TRUE },
  [ADJ_ROLE_ACCUMULATE] = { ADJ_FRAME_DOUBLE, TRUE, FALSE },
  [ADJ_ROLE_CALLBACKS] = { ADJ_FRAME_HEAVY_DASHED, FALSE, FALSE },
  [ADJ_ROLE_OBJECT] = { ADJ_FRAME_SOLID, FALSE, FALSE },
  [ADJ_ROLE_OFFLOADED] = { ADJ_FRAME_DOUBLE, TRUE, FALSE },
  [ADJ_ROLE_UPDATE] = { ADJ_FRAME_HEAVY_DASHED, TRUE, FALSE },
};

AdjFrameStyle
adj_role_frame (AdjRole role)
{
  g_return_val_if_fail (role < ADJ_N_ROLES, ADJ_FRAME_SOLID);
  return forms[role].frame;
}

gboolean
adj_role_has_stripe (AdjRole role)
{
  g_return_val_if_fail (role < ADJ_N_ROLES, FALSE);
  return forms[role].stripe;
}

gboolean
adj_role_is_hatched (AdjRole role)
{
  g_return_val_if_fail (role < ADJ_N_ROLES, FALSE);
  return forms[role].hatched;
}
