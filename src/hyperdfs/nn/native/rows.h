/* Layer norm and softmax, row by row, and their gradients. */
#include "products.h"

#define INLINE static inline __attribute__((always_inline))

/* The usual widths are written out, which unrolls their loops. */
#define BY_WIDTH(call, width)           \
    do {                                \
        if ((width) == 16) {            \
            call(16);                   \
        } else if ((width) == 32) {     \
            call(32);                   \
        } else if ((width) == 64) {     \
            call(64);                   \
        } else {                        \
            call(width);                \
        }                               \
    } while (0)

/* Rows are worked on four at a time; `call` takes the first of them and how many. */
#define BY_FOUR(call, n)                \
    do {                                \
        long i = 0;                     \
        for (; i + 4 <= (n); i += 4)    \
            call(i, 4);                 \
        if (i < (n))                    \
            call(i, (n) - i);           \
    } while (0)

/* The end of a row may fill only the first `left` lanes; the others are 0. */
INLINE vec load(const real *x, long left)
{
    if (left >= LANES)
        return AT(const vec, x);
    vec v = {0};
    memcpy(&v, x, left * sizeof(real));
    return v;
}

INLINE void store(real *x, vec v, long left)
{
    if (left >= LANES)
        AT(vec, x) = v;
    else
        memcpy(x, &v, left * sizeof(real));
}

INLINE vec only(vec v, long left)
{
    return load((const real *)&v, left);
}

/* The lanes, four by four, added up to four. */
INLINE four fold(vec v)
{
    four total = AT(four, &v);
#pragma GCC unroll 4
    for (long j = 4; j < LANES; j += 4)
        total += AT(four, (real *)&v + j);
    return total;
}

/* Lane i of the result is the sum over the lanes of v[i]. */
INLINE four lane_sums(const vec v[4])
{
#ifdef __clang__ /* which has no shuffles by computed places */
    four total;
    for (int i = 0; i < 4; i++) {
        four part = fold(v[i]);
        total[i] = (part[0] + part[2]) + (part[1] + part[3]);
    }
    return total;
#else /* four sums take hardly longer than one */
    typeof(v[0] < v[0]) low, high, first, second; /* of each four lanes: by one, then by two */
#pragma GCC unroll 16
    for (int j = 0; j < LANES; j++) {
        low[j] = j / 4 * 4 + j % 4 / 2 + j % 2 * LANES, high[j] = low[j] + 2;
        first[j] = j / 4 * 4 + j % 2 + j % 4 / 2 * LANES, second[j] = first[j] + 2;
    }
    vec ab = __builtin_shuffle(v[0], v[1], low) + __builtin_shuffle(v[0], v[1], high);
    vec cd = __builtin_shuffle(v[2], v[3], low) + __builtin_shuffle(v[2], v[3], high);
    return fold(__builtin_shuffle(ab, cd, first) + __builtin_shuffle(ab, cd, second));
#endif
}

INLINE four sum_four(long rows, long d, const real *x)
{
    vec sums[4] = {{0}};
    for (long i = 0; i < rows; i++)
        for (long j = 0; j < d; j += LANES)
            sums[i] += load(x + i * d + j, d - j);
    return lane_sums(sums);
}

INLINE four dot_four(long rows, long d, const real *a, const real *b)
{
    vec sums[4] = {{0}};
    for (long i = 0; i < rows; i++)
        for (long j = 0; j < d; j += LANES)
            sums[i] += load(a + i * d + j, d - j) * load(b + i * d + j, d - j);
    return lane_sums(sums);
}

INLINE void store_four(real *x, four v, long rows)
{
    memcpy(x, &v, rows * sizeof(real));
}

INLINE void sum_rows(long n, long d, const real *x, real *restrict sums)
{
#define FOUR(i, rows) store_four(sums + i, sum_four(rows, d, x + i * d), rows)
    BY_FOUR(FOUR, n);
#undef FOUR
}

INLINE void dot_rows(long n, long d, const real *a, const real *b, real *restrict dots)
{
#define FOUR(i, rows) store_four(dots + i, dot_four(rows, d, a + i * d, b + i * d), rows)
    BY_FOUR(FOUR, n);
#undef FOUR
}

/* ---- hat = (x - mean) / sd, y = hat * gain + shift; y may be x. ---- */

INLINE void norm_four(long rows, long d, const real *x, const real *restrict gain,
                      const real *restrict shift, real *restrict hat, real *restrict scale,
                      real *y)
{
    vec squares[4] = {{0}};
    four mean = sum_four(rows, d, x) / (real)d;
    for (long i = 0; i < rows; i++)
        for (long j = 0; j < d; j += LANES) {
            vec centred = only(load(x + i * d + j, d - j) - mean[i], d - j);
            store(hat + i * d + j, centred, d - j);
            squares[i] += centred * centred;
        }
    four variance = lane_sums(squares) / (real)d;
    for (long i = 0; i < rows; i++) {
        real s = scale[i] = 1 / (real)sqrt(variance[i] + (real)1e-5);
        for (long j = 0; j < d; j += LANES) {
            vec h = load(hat + i * d + j, d - j) * s;
            store(hat + i * d + j, h, d - j);
            store(y + i * d + j, h * load(gain + j, d - j) + load(shift + j, d - j), d - j);
        }
    }
}

INLINE void norm_rows(long n, long d, const real *x, const real *restrict gain,
                      const real *restrict shift, real *restrict hat, real *restrict scale,
                      real *y)
{
#define FOUR(i, rows) \
    norm_four(rows, d, x + i * d, gain, shift, hat + i * d, scale + i, y + i * d)
    BY_FOUR(FOUR, n);
#undef FOUR
}

/* grad: of y, then of x. */
INLINE void unnorm_four(long rows, long d, real *restrict grad, const real *restrict hat,
                        const real *restrict scale, const real *restrict gain,
                        real *restrict d_gain, real *restrict d_shift)
{
    vec sums[4] = {{0}}, alongs[4] = {{0}};
    for (long j = 0; j < d; j += LANES) {
        vec more_gain = {0}, more_shift = {0};
        for (long i = 0; i < rows; i++) {
            vec g = load(grad + i * d + j, d - j), h = load(hat + i * d + j, d - j);
            more_gain += g * h;
            more_shift += g;
            g *= load(gain + j, d - j);
            store(grad + i * d + j, g, d - j);
            sums[i] += g;
            alongs[i] += g * h;
        }
        store(d_gain + j, load(d_gain + j, d - j) + more_gain, d - j);
        store(d_shift + j, load(d_shift + j, d - j) + more_shift, d - j);
    }
    four total = lane_sums(sums) / (real)d, along = lane_sums(alongs) / (real)d;
    for (long i = 0; i < rows; i++)
        for (long j = 0; j < d; j += LANES) {
            vec g = load(grad + i * d + j, d - j), h = load(hat + i * d + j, d - j);
            store(grad + i * d + j, (g - total[i] - h * along[i]) * scale[i], d - j);
        }
}

INLINE void unnorm_rows(long n, long d, real *restrict grad, const real *restrict hat,
                        const real *restrict scale, const real *restrict gain,
                        real *restrict d_gain, real *restrict d_shift)
{
#define FOUR(i, rows) \
    unnorm_four(rows, d, grad + i * d, hat + i * d, scale + i, gain, d_gain, d_shift)
    BY_FOUR(FOUR, n);
#undef FOUR
}

/* ---- Softmax of rows and of columns. Ordinary scores can be exponentiated as they are; where a
 * sum is far from 1, those below the largest score are taken. ---- */

/* exp, right to about one unit in the last place; where the result is no ordinary number, 0 or
 * infinity (or, without AVX-512, exp of the nearest of -87 and 87). */
INLINE vec exponentials(vec x)
{
    vec power = x, p = x;
    if (sizeof(real) == sizeof(double)) {
        for (int j = 0; j < LANES; j++)
            p[j] = (real)exp((double)x[j]);
        return p;
    }
#ifndef __AVX512F__
    for (int j = 0; j < LANES; j++)
        x[j] = x[j] < -87 ? -87 : x[j] > 87 ? 87 : x[j];
#endif
    for (int j = 0; j < LANES; j++)
        power[j] = rintf((float)x[j] * 1.44269504f);
    vec r = (x - power * 0.693115234375f) - power * 3.19461845e-5f; /* log 2 in two parts */
    p = r * 1.393373322e-3f + 8.363235385e-3f;
    p = p * r + 4.166646417e-2f;
    p = p * r + 1.666657664e-1f;
    p = p * r + 5.000000014e-1f;
    p = (p * r) * r + r + 1.0f;
#ifdef __AVX512F__
    return (vec)_mm512_scalef_ps((__m512)p, (__m512)power);
#else
    for (int j = 0; j < LANES; j++) {
        int32_t bits = ((int32_t)power[j] + 127) * (1 << 23);
        float scale;
        memcpy(&scale, &bits, sizeof scale);
        p[j] *= scale;
    }
    return p;
#endif
}

/* Whether sums of exponentials are exact and far from overflow. */
INLINE int safe(long n, const real *total)
{
    const real large = (real)2e17;
    int good = 1;
#pragma omp simd reduction(& : good)
    for (long i = 0; i < n; i++)
        good &= (total[i] < large) & (total[i] * large > 1);
    return good;
}

/* p = exp(x - shift) */
INLINE void exp_row(long d, const real *restrict x, real shift, real *restrict p)
{
    for (long j = 0; j < d; j += LANES)
        store(p + j, exponentials(load(x + j, d - j) - shift), d - j);
}

/* total: room for n numbers. */
INLINE void softmax_rows(long n, long d, const real *restrict x, real *restrict p,
                         real *restrict total)
{
    for (long i = 0; i < n; i++)
        exp_row(d, x + i * d, 0, p + i * d);
    sum_rows(n, d, p, total);
    for (long i = safe(n, total) ? n : 0; i < n; i++)
        if (!safe(1, total + i)) {
            real top = x[i * d];
            for (long j = 1; j < d; j++)
                top = x[i * d + j] > top ? x[i * d + j] : top;
            exp_row(d, x + i * d, top, p + i * d);
            total[i] = 0;
            for (long j = 0; j < d; j++)
                total[i] += p[i * d + j];
        }
    for (long i = 0; i < n; i++)
        total[i] = 1 / total[i];
    for (long i = 0; i < n; i++)
        for (long j = 0; j < d; j += LANES)
            store(p + i * d + j, load(p + i * d + j, d - j) * total[i], d - j);
}

/* grad: of the weights p, then of the scores. */
INLINE void unsoftmax_four(long rows, long d, const real *restrict p, real *restrict grad)
{
    four total = dot_four(rows, d, p, grad);
    for (long i = 0; i < rows; i++)
        for (long j = 0; j < d; j += LANES) {
            vec g = load(grad + i * d + j, d - j) - total[i];
            store(grad + i * d + j, g * load(p + i * d + j, d - j), d - j);
        }
}

INLINE void unsoftmax_rows(long n, long d, const real *restrict p, real *restrict grad)
{
#define FOUR(i, rows) unsoftmax_four(rows, d, p + i * d, grad + i * d)
    BY_FOUR(FOUR, n);
#undef FOUR
}

/* p = exp(x - shift), a shift for each column; total: the sums of the columns. */
static void exp_columns(long n, long m, const real *restrict x, const real *restrict shift,
                        real *restrict p, real *restrict total)
{
    for (long j = 0; j < m; j += LANES) {
        vec sums = {0}, below = load(shift + j, m - j);
        for (long i = 0; i < n; i++) {
            vec e = exponentials(load(x + i * m + j, m - j) - below);
            store(p + i * m + j, e, m - j);
            sums += e;
        }
        store(total + j, sums, m - j);
    }
}

static void softmax_columns(long n, long m, const real *restrict x, real *restrict p)
{
    real top[m], total[m];
    memset(top, 0, sizeof top);
    exp_columns(n, m, x, top, p, total);
    if (!safe(m, total)) {
        memcpy(top, x, sizeof top);
        for (long i = 1; i < n; i++)
            for (long j = 0; j < m; j++)
                top[j] = x[i * m + j] > top[j] ? x[i * m + j] : top[j];
        exp_columns(n, m, x, top, p, total);
    }
    for (long j = 0; j < m; j++)
        total[j] = 1 / total[j];
    for (long i = 0; i < n; i++)
        for (long j = 0; j < m; j++)
            p[i * m + j] *= total[j];
}

/* grad: of the weights p, then of the scores. */
static void unsoftmax_columns(long n, long m, const real *restrict p, real *restrict grad)
{
    real total[m];
    memset(total, 0, sizeof total);
    for (long i = 0; i < n; i++)
        for (long j = 0; j < m; j++)
            total[j] += p[i * m + j] * grad[i * m + j];
    for (long i = 0; i < n; i++)
        for (long j = 0; j < m; j++)
            grad[i * m + j] = p[i * m + j] * (grad[i * m + j] - total[j]);
}
