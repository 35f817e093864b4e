/* SPDX-License-Identifier: MIT */
#pragma once

#include "formats/json-private.h"

G_BEGIN_DECLS

/* The facts of TRACE records that hold no graph. */

/* (nullable): the log's name for it; %NULL: it is bookkeeping of the log. */
const char *log_fact_name (const JsonItem *record);
/* (transfer full): @payload, or the record itself where that is empty. */
char *log_fact_text (const JsonItem *record, const char *payload);
/* (transfer full) (nullable): "2.6.0", if the fact says who wrote the log. */
char *log_fact_torch_version (const char *name, const char *text);

G_END_DECLS
