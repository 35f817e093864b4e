/* SPDX-License-Identifier: MIT */
#pragma once

#include "ir/parse-private.h"

G_BEGIN_DECLS

/* A parameter of forward(), or a value that a pytree unpacks into. */
typedef struct
{
  char *name;   /* of the node */
  char *target; /* as written, with stars */
  AdjSpan span;
  AdjParsedMeta metadata;
  AdjValue default_value;
  gboolean has_default;
} Parameter;

void adj_parameter_free (gpointer parameter);
/* (transfer full) (nullable): the next one; %NULL: there is none. */
Parameter *adj_parameter_read (AdjReader *r, AdjSymbols *symbols);
/* Takes what the comment [@text, @end) says of @parameter. */
void adj_parameter_describe (Parameter *parameter, const char *text, const char *end);
/* Replaces what becomes placeholders; @parameters: (transfer full) */
void adj_header_set_parameters (AdjHeaderReader *header, GPtrArray *parameters);

/* Reads a line that annotates values of an unpacking, or one that unpacks (parse-pytree.c); %FALSE
 * if it does not. */
gboolean adj_header_read_bindings (AdjHeaderReader *header, AdjReader r);
gboolean adj_header_read_unpacking (AdjHeaderReader *header, AdjReader r);

G_END_DECLS
