/* SPDX-License-Identifier: MIT */
#pragma once

#include "formats/json-private.h"

G_BEGIN_DECLS

/* (transfer full) (nullable): the role of the graph that the record's payload is; %NULL when it is
 * none. */
char *log_role (const JsonItem *record, const char *payload);

G_END_DECLS
