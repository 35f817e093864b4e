/* SPDX-License-Identifier: MIT */
#pragma once

#include "widgets/adj-panel.h"

G_BEGIN_DECLS

/* The options of the pass that made the shown stage, if it was made here: a change makes this stage
 * and the later ones again. */
#define ADJ_TYPE_STAGE_OPTIONS (adj_stage_options_get_type ())
G_DECLARE_FINAL_TYPE (AdjStageOptions, adj_stage_options, ADJ, STAGE_OPTIONS, AdjPanel)

G_END_DECLS
