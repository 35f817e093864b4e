/* SPDX-License-Identifier: MIT */
#pragma once

#include "adjoint.h"

G_BEGIN_DECLS

/* Parses, loads and saves graphs.  An error fails the running test. */

/* (transfer full) */
AdjGraph *adj_test_parse_graph (const char *text);

/* (transfer full) */
AdjBundle *adj_test_load_bundle (const char *path);
/* Saves in the format of the path's suffix. */
void adj_test_save_bundle (AdjBundle *bundle, const char *path);

/* (transfer full): data/graphs/@name.adjoint */
AdjBundle *adj_test_load_capture (const char *name);

/* (transfer full): names of the files in data/graphs, sorted, of char * */
GPtrArray *adj_test_list_captures (void);

/* (transfer full): graph @id of data/graphs/@name.adjoint */
AdjGraph *adj_test_load_graph (const char *name, const char *id);

G_END_DECLS
