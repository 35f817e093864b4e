/* SPDX-License-Identifier: MIT */
#pragma once

#include "adj-kernel-random.h"

#include "call/adj-generator.h"

G_BEGIN_DECLS

/* Where its words come from; whoever draws some elsewhere writes it back. */
AdjKTwister *adj_generator_get_twister (AdjGenerator *generator);

/* Not part of the state; ADJ_RANDOM_MKL of a new one. */
void adj_generator_set_source (AdjGenerator *generator, AdjRandomSource source);
AdjRandomSource adj_generator_get_source (const AdjGenerator *generator);

G_END_DECLS
