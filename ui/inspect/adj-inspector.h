/* SPDX-License-Identifier: MIT */
#pragma once

#include "widgets/adj-panel.h"

G_BEGIN_DECLS

/* Shows the properties of the selected node; nodes that it mentions are links. */
#define ADJ_TYPE_INSPECTOR (adj_inspector_get_type ())
G_DECLARE_FINAL_TYPE (AdjInspector, adj_inspector, ADJ, INSPECTOR, AdjPanel)

G_END_DECLS
