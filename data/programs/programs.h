/* SPDX-License-Identifier: MIT */
#pragma once

#include <adjoint.h>

G_BEGIN_DECLS

/* The programs of this folder.  Each is a page and a lesson, and can be built on its own as a
 * plugin: `adjoint run libmlp.so:adj_program_mlp` is `adjoint run mlp`.
 *
 * ORDER PROGRAMS: the table in programs.c. */

ADJ_PUBLIC const AdjProgram *adj_program_mlp (void);
ADJ_PUBLIC const AdjProgram *adj_program_hooks (void);
ADJ_PUBLIC const AdjProgram *adj_program_views (void);
ADJ_PUBLIC const AdjProgram *adj_program_custom (void);
ADJ_PUBLIC const AdjProgram *adj_program_twice (void);
ADJ_PUBLIC const AdjProgram *adj_program_sizes (void);
ADJ_PUBLIC const AdjProgram *adj_program_anomaly (void);
ADJ_PUBLIC const AdjProgram *adj_program_checkpoint (void);
ADJ_PUBLIC const AdjProgram *adj_program_regions (void);
ADJ_PUBLIC const AdjProgram *adj_program_selective (void);
ADJ_PUBLIC const AdjProgram *adj_program_dropout (void);

/* "name: tensor([…])" as a line of @out. */
static inline void
adj_program_print (AdjContext *cx, GString *out, const char *name, AdjTensor *tensor)
{
  g_autoptr (AdjTensorData) data = tensor != NULL ? adj_tensor_snapshot (tensor) : NULL;
  g_autofree char *text = data != NULL ? adj_tensor_data_print (data, 100) : NULL;

  g_string_append_printf (out, "%s: %s\n", name, text != NULL ? text : "none");
}

/* (nullable) */
const AdjProgram *adj_builtin_program_find (const char *name);
guint adj_builtin_programs_get_n (void);
const AdjProgram *adj_builtin_programs_get (guint index);

G_END_DECLS
