/* SPDX-License-Identifier: MIT */
#pragma once

#include "formats/json-private.h"

G_BEGIN_DECLS

/* What a record of a TRACE log says that is no graph. */

/* (nullable): what the log calls it; %NULL: it is a part of the log's own bookkeeping. */
const char *log_fact_name (const JsonItem *record);
/* (transfer full): @payload, or the record itself where that is empty. */
char *log_fact_text (const JsonItem *record, const char *payload);
/* (transfer full) (nullable): "2.6.0", if the fact says who wrote the log. */
char *log_fact_torch_version (const char *name, const char *text);

G_END_DECLS
