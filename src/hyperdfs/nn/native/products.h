/* Vectors and matrix products. Matrices are row-major and dense; REAL is float or double. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#ifdef __AVX512F__
#include <immintrin.h>
#endif

typedef REAL real;
#if defined(__AVX512F__)
#define BYTES 64 /* of a vector register */
#define ROWS 8   /* of a tile; two vectors each must fit in the registers */
#elif defined(__AVX__)
#define BYTES 32
#define ROWS 4
#else
#error "not measured here; PyTorch may well be faster"
#endif
typedef real vec __attribute__((vector_size(BYTES), aligned(sizeof(real)), may_alias));
typedef real half __attribute__((vector_size(BYTES / 2), aligned(sizeof(real)), may_alias));
typedef real four __attribute__((vector_size(4 * sizeof(real)), aligned(sizeof(real)), may_alias));
#define LANES ((long)(BYTES / sizeof(real)))
#define AT(type, p) (*(type *)(p))

/* ---- C = A B, or C += A B. A has any strides, so that A' needs no copy. ---- */

#define TILE(name, type, rows, width)                                                           \
    static inline void name(long k, const real *restrict a, long row, long column,              \
                            const real *restrict b, long ldb, real *restrict c, long ldc,       \
                            int add)                                                            \
    {                                                                                           \
        const long lanes = sizeof(type) / sizeof(real);                                         \
        type sum[rows][width];                                                                  \
        _Pragma("GCC unroll 16") for (int i = 0; i < rows; i++)                                 \
            _Pragma("GCC unroll 4") for (int j = 0; j < width; j++)                             \
                sum[i][j] = (type){0};                                                          \
        for (long p = 0; p < k; p++) {                                                          \
            type right[width];                                                                  \
            _Pragma("GCC unroll 4") for (int j = 0; j < width; j++)                             \
                right[j] = *(const type *)(b + p * ldb + j * lanes);                            \
            _Pragma("GCC unroll 16") for (int i = 0; i < rows; i++)                             \
                _Pragma("GCC unroll 4") for (int j = 0; j < width; j++)                         \
                    sum[i][j] += a[i * row + p * column] * right[j];                            \
        }                                                                                       \
        _Pragma("GCC unroll 16") for (int i = 0; i < rows; i++)                                 \
            _Pragma("GCC unroll 4") for (int j = 0; j < width; j++) {                           \
                type *to = (type *)(c + i * ldc + j * lanes);                                   \
                if (add)                                                                        \
                    sum[i][j] += *to;                                                           \
                *to = sum[i][j];                                                                \
            }                                                                                   \
    }

#define TILES(suffix, type, width)                                                              \
    TILE(tiles_##suffix, type, ROWS, width)                                                     \
    TILE(tile2_##suffix, type, 2, width)                                                        \
    TILE(tile1_##suffix, type, 1, width)                                                        \
    static void rows_##suffix(long n, long k, const real *a, long row, long column,             \
                              const real *b, long ldb, real *c, long ldc, int add)              \
    {                                                                                           \
        long i = 0;                                                                             \
        for (; i + ROWS <= n; i += ROWS)                                                        \
            tiles_##suffix(k, a + i * row, row, column, b, ldb, c + i * ldc, ldc, add);         \
        for (; i + 2 <= n; i += 2)                                                              \
            tile2_##suffix(k, a + i * row, row, column, b, ldb, c + i * ldc, ldc, add);         \
        for (; i < n; i++)                                                                      \
            tile1_##suffix(k, a + i * row, row, column, b, ldb, c + i * ldc, ldc, add);         \
    }

TILES(wide, vec, 2)
TILES(one, vec, 1)
TILES(half, half, 1)
TILES(scalar, real, 1)

static void product(long n, long m, long k, const real *a, long row, long column, const real *b,
                    long ldb, real *c, long ldc, int add)
{
    long j = 0;
    for (; j + 2 * LANES <= m; j += 2 * LANES)
        rows_wide(n, k, a, row, column, b + j, ldb, c + j, ldc, add);
    for (; j + LANES <= m; j += LANES)
        rows_one(n, k, a, row, column, b + j, ldb, c + j, ldc, add);
    for (; j + LANES / 2 <= m; j += LANES / 2)
        rows_half(n, k, a, row, column, b + j, ldb, c + j, ldc, add);
    for (; j < m; j++)
        rows_scalar(n, k, a, row, column, b + j, ldb, c + j, ldc, add);
}

static void transpose(long n, long m, const real *restrict a, real *restrict t)
{
    for (long j = 0; j < m; j++)
        for (long i = 0; i < n; i++)
            t[j * n + i] = a[i * m + j];
}

static void add_row(long n, long m, real *restrict a, const real *restrict row)
{
    for (long i = 0; i < n; i++)
        for (long j = 0; j < m; j++)
            a[i * m + j] += row[j];
}

static void add_sum(long n, long m, const real *restrict a, real *restrict sum)
{
    for (long i = 0; i < n; i++)
        for (long j = 0; j < m; j++)
            sum[j] += a[i * m + j];
}
