/* SPDX-License-Identifier: MIT */
#pragma once

#include <json-glib/json-glib.h>

#include "adj-command.h"

/* Facts of a file beside its graphs. */

/* Prints a line for each name, with its number of occurrences. */
void adj_facts_print_list (const AdjBundle *bundle);
/* Adds the same as the member "facts" of an object. */
void adj_facts_add_list (JsonBuilder *builder, const AdjBundle *bundle);
/* Prints all texts named @name, only those of @region if it is given (nullable);
 * ADJ_ERROR_NOT_FOUND lists the names that there are. */
AdjExit adj_facts_print (const AdjBundle *bundle,
                         const AdjRegion *region,
                         const char *name,
                         GError **error);
