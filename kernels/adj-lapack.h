/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>

/* LAPACK, loaded at first use and never linked: liblapack.so.3 and the BLAS below it.
 *
 * Matrices are dense and column-major, of f64 or, when @z, of complex numbers as pairs.  Functions
 * return LAPACK's info: 0; > 0 where a matrix is singular or not definite, or an iteration did not
 * converge; < 0 when memory ran out.  adj_lapack_open() must have returned true before. */

/* Whether it could be loaded; else @why says why not.  May be called in any thread. */
bool adj_lapack_open (const char **why);

/* Whether its BLAS could be limited to one thread. */
bool adj_lapack_is_serial (void);

/* The Cholesky factor in the triangle @uplo of @a; the other triangle is unchanged.  The inverse
 * from that factor. */
int adj_lapack_potrf (bool z, char uplo, int n, double *a);
int adj_lapack_potri (bool z, char uplo, int n, double *a);

/* P L U; pivots are counted from 1.  Solutions with it: @trans 'N', 'T' or 'C'. */
int adj_lapack_getrf (bool z, int m, int n, double *a, int *pivots);
int adj_lapack_getrs (
    bool z, char trans, int n, int n_columns, const double *a, const int *pivots, double *b);

/* B := A⁻¹ B, or B A⁻¹ when @side is 'R'; A is triangular, B is m × n. */
void adj_lapack_trsm (
    bool z, char side, char uplo, char trans, char diag, int m, int n, const double *a, double *b);

/* L D Lᵀ, or L D Lᴴ, in the lower triangle; solutions with it. */
int adj_lapack_sytrf (bool z, bool hermitian, int n, double *a, int *pivots);
int adj_lapack_sytrs (
    bool z, bool hermitian, int n, int n_columns, const double *a, const int *pivots, double *b);

/* Q R: reflectors below the diagonal; Q from them; the product of Q with C, m × n. */
int adj_lapack_geqrf (bool z, int m, int n, double *a, double *tau);
int adj_lapack_orgqr (bool z, int m, int n, int k, double *a, const double *tau);
int adj_lapack_ormqr (bool z,
                      char side,
                      char trans,
                      int m,
                      int n,
                      int k,
                      const double *a,
                      const double *tau,
                      double *c);

/* Eigenvalues, real and ascending, of a symmetric matrix; eigenvectors in @a when @vectors. */
int adj_lapack_syevd (bool z, bool vectors, char uplo, int n, double *a, double *w);

/* Eigenvalues and, unless NULL, eigenvectors of any matrix: complex, whatever @z is. */
int adj_lapack_geev (bool z, int n, double *a, double *w, double *vectors);

/* U diag (s) Vᴴ: job 'A': all of U and V, 'S': min (m, n) vectors, 'N': none. */
int adj_lapack_gesdd (bool z, char job, int m, int n, double *a, double *s, double *u, double *vt);

/* The X that minimises |A X - B|; @b has max (m, n) rows.  Rank and singular values @s (may be
 * NULL) by the driver 'y' or 'd'; 's', for full rank, gives neither. */
int adj_lapack_gels (char driver,
                     bool z,
                     int m,
                     int n,
                     int n_columns,
                     double *a,
                     double *b,
                     double rcond,
                     double *s,
                     int *rank);
