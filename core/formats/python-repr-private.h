/* SPDX-License-Identifier: MIT */
#pragma once

#include "ir/adj-value.h"

G_BEGIN_DECLS

/* Reads the repr() of Python's data classes, in which AOTAutograd logs what it knows of a region
 * (formats/SPEC.md §2.5), as the values that the capture module writes for them: data classes and
 * dictionaries are DICTs by name, all containers LISTs, enums their bare name, and what only
 * Python understands is text.  Trailing text is ignored.  %FALSE when @text begins with no value.
 */
gboolean python_repr_parse (const char *text, gsize length, AdjValue *out);

G_END_DECLS
