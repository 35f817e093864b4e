/* SPDX-License-Identifier: MIT */
#pragma once

#include <adwaita.h>

G_BEGIN_DECLS

/* Recent files, and the samples; a click opens one. */
#define ADJ_TYPE_FILE_LIST (adj_file_list_get_type ())
G_DECLARE_FINAL_TYPE (AdjFileList, adj_file_list, ADJ, FILE_LIST, AdwBin)

G_END_DECLS
