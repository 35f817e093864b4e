/* SPDX-License-Identifier: MIT */
#pragma once

#include "formats/adj-format.h"

G_BEGIN_DECLS

/* Files of text that hold one graph. */
extern const AdjFormat adj_format_text;
extern const AdjFormat adj_format_torch_logs;
extern const AdjFormat adj_format_torch_trace;
extern const AdjFormat adj_format_dot;
extern const AdjFormat adj_format_json;

G_END_DECLS
