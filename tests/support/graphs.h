/* SPDX-License-Identifier: MIT */
#pragma once

#include "adjoint.h"

G_BEGIN_DECLS

/* Graphs to test with.  What cannot be read fails the running test. */

/* (transfer full) */
AdjGraph *adj_test_parse_graph (const char *text);

/* (transfer full) */
AdjBundle *adj_test_load_bundle (const char *path);
/* In the format of its name. */
void adj_test_save_bundle (AdjBundle *bundle, const char *path);

/* (transfer full): data/graphs/@name.adjoint */
AdjBundle *adj_test_load_capture (const char *name);

/* (transfer full): the names of data/graphs in order, of char * */
GPtrArray *adj_test_list_captures (void);

/* (transfer full): graph @id of it */
AdjGraph *adj_test_load_graph (const char *name, const char *id);

G_END_DECLS
