/* SPDX-License-Identifier: MIT */
#pragma once

#include "widgets/adj-panel.h"

G_BEGIN_DECLS

/* Yellow: the file is usable, but not all of it could be read.  Red: something failed, with a
 * button that goes to the node.  Hidden without a remark. */
#define ADJ_TYPE_REMARKS_BAR (adj_remarks_bar_get_type ())
G_DECLARE_FINAL_TYPE (AdjRemarksBar, adj_remarks_bar, ADJ, REMARKS_BAR, AdjPanel)

G_END_DECLS
