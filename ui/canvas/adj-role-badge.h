/* SPDX-License-Identifier: MIT */
#pragma once

#include <gtk/gtk.h>

#include "scene/adj-scene.h"

G_BEGIN_DECLS

/* The sign of a role on its colour, as on the cards. */
#define ADJ_TYPE_ROLE_BADGE (adj_role_badge_get_type ())
G_DECLARE_FINAL_TYPE (AdjRoleBadge, adj_role_badge, ADJ, ROLE_BADGE, GtkWidget)

GtkWidget *adj_role_badge_new (AdjRole role);
void adj_role_badge_set_role (AdjRoleBadge *self, AdjRole role);

G_END_DECLS
