/* SPDX-License-Identifier: MIT */
#pragma once

#include "widgets/adj-panel.h"

G_BEGIN_DECLS

/* The stages of a recording in a row above the canvas: name, number of nodes and changes. Hidden
 * when the file has no recording. */
#define ADJ_TYPE_STAGE_BAR (adj_stage_bar_get_type ())
G_DECLARE_FINAL_TYPE (AdjStageBar, adj_stage_bar, ADJ, STAGE_BAR, AdjPanel)

G_END_DECLS
