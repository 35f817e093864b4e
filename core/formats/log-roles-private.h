/* SPDX-License-Identifier: MIT */
#pragma once

#include "formats/json-private.h"

G_BEGIN_DECLS

/* (transfer full) (nullable): the role of the graph that the record's payload is; %NULL when it is
 * none. */
char *log_role (const JsonItem *record, const char *payload);
/* (transfer full): what a log calls a graph, as a part of an id: "tensorify_python_scalars". */
char *log_role_of_name (const char *name);
/* (nullable): where the next line of @text begins that a module begins with; those within modules
 * are indented. */
const char *log_next_module (const char *text);
/* (transfer full) (nullable): the role of a module that has a label before it, as in
 * "pack getitem:class <lambda>(torch.nn.Module):". */
char *log_module_label (const char *line);

G_END_DECLS
