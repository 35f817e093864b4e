/* SPDX-License-Identifier: MIT */
#pragma once

#include <json-glib/json-glib.h>

#include "adj-command.h"

/* What a file says beside its graphs. */

/* A line for each name, with how often it stands there. */
void adj_facts_print_list (const AdjBundle *bundle);
/* The same as the member "facts" of an object. */
void adj_facts_add_list (JsonBuilder *builder, const AdjBundle *bundle);
/* All texts called @name, of @region where it is given (nullable); ADJ_ERROR_NOT_FOUND names what
 * there is. */
AdjExit adj_facts_print (const AdjBundle *bundle,
                         const AdjRegion *region,
                         const char *name,
                         GError **error);
