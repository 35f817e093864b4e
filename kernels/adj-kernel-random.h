/* SPDX-License-Identifier: MIT */
#pragma once

/* Random numbers become others as in PyTorch on the CPU, bit for bit. */

/* u: 16 numbers of [0, 1).  Numbers i and i + 8 become two normal ones by the method of Box and
 * Muller, with the logarithm, sine and cosine of Cephes in f32 and fused multiply-adds. */
void adj_k_box_muller_f32 (float u[16]);
