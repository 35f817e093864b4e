/* SPDX-License-Identifier: MIT */
#pragma once

#include "adj-kernel-random.h"

#include "call/adj-generator.h"

G_BEGIN_DECLS

/* The Mersenne Twister that it draws from; a caller that draws from a copy writes the copy back. */
AdjKTwister *adj_generator_get_twister (AdjGenerator *generator);

/* The source is not part of the state; ADJ_RANDOM_MKL at first. */
void adj_generator_set_source (AdjGenerator *generator, AdjRandomSource source);
AdjRandomSource adj_generator_get_source (const AdjGenerator *generator);

G_END_DECLS
