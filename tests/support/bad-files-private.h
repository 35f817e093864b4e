/* SPDX-License-Identifier: MIT */
#pragma once

#include "support/bad-files.h"

/* Rows of a list whose files all have the name NAME. */
#define SHOWN(row, bytes, mentions, says)                                                          \
  {                                                                                                \
    .what = row, .name = NAME, .contents = bytes, .length = sizeof (bytes) - 1, .out = mentions,   \
    .remark = says                                                                                 \
  }
#define REFUSED(row, bytes, mentions)                                                              \
  {                                                                                                \
    .what = row, .name = NAME, .contents = bytes, .length = sizeof (bytes) - 1, .status = 2,       \
    .out = mentions                                                                                \
  }

/* Entries of an archive. */
#define PART(entry, bytes)                                                                         \
  {                                                                                                \
    entry, bytes, sizeof (bytes) - 1                                                               \
  }
#define PARTS(...)                                                                                 \
  (const ZipPart[])                                                                                \
  {                                                                                                \
    __VA_ARGS__, { NULL }                                                                          \
  }

#define LIST(symbol, title) const AdjBadList symbol = { title, files, G_N_ELEMENTS (files) }
