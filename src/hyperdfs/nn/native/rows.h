/* Layer norm and softmax, row by row, and their gradients. */
#include "products.h"

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

#define INLINE static inline __attribute__((always_inline))

/* The lanes of a vector added up, half upon half: one after the other would take its time. */
INLINE real lane_sum(vec v)
{
    half h = AT(half, &v) + AT(half, (char *)&v + sizeof(half));
    quarter q = AT(quarter, &h) + AT(quarter, (char *)&h + sizeof(quarter));
    real total = q[0];
#pragma GCC unroll 4
    for (long j = 1; j < LANES / 4; j++)
        total += q[j];
    return total;
}

INLINE real row_sum(long d, const real *x)
{
    long j = 0;
    vec sums = {0};
    for (; j + LANES <= d; j += LANES)
        sums += AT(const vec, x + j);
    real total = lane_sum(sums);
    for (; j < d; j++)
        total += x[j];
    return total;
}

/* hat = (x - mean) / sd, y = hat * gain + shift; y may be x. */
INLINE void norm_rows(long n, long d, const real *x, const real *restrict gain,
                      const real *restrict shift, real *restrict hat, real *restrict scale,
                      real *y)
{
    for (long i = 0; i < n; i++, x += d, hat += d, y += d) {
        long j = 0;
        vec sums = {0};
        real mean = row_sum(d, x) / d;
        for (; j + LANES <= d; j += LANES) {
            vec centred = AT(const vec, x + j) - mean;
            AT(vec, hat + j) = centred;
            sums += centred * centred;
        }
        real square = lane_sum(sums);
        for (; j < d; j++) {
            hat[j] = x[j] - mean;
            square += hat[j] * hat[j];
        }
        real s = 1 / (real)sqrt(square / d + (real)1e-5);
        scale[i] = s;
#pragma omp simd
        for (j = 0; j < d; j++) {
            hat[j] *= s;
            y[j] = hat[j] * gain[j] + shift[j];
        }
    }
}

/* grad: of y, then of x. */
INLINE void unnorm_rows(long n, long d, real *restrict grad, const real *restrict hat,
                        const real *restrict scale, const real *restrict gain,
                        real *restrict d_gain, real *restrict d_shift)
{
    for (long i = 0; i < n; i++, grad += d, hat += d) {
        long j = 0;
        vec sums = {0}, alongs = {0};
        for (; j + LANES <= d; j += LANES) {
            vec g = AT(vec, grad + j), h = AT(const vec, hat + j);
            AT(vec, d_gain + j) += g * h;
            AT(vec, d_shift + j) += g;
            g *= AT(const vec, gain + j);
            AT(vec, grad + j) = g;
            sums += g;
            alongs += g * h;
        }
        real total = lane_sum(sums), along = lane_sum(alongs);
        for (; j < d; j++) {
            d_gain[j] += grad[j] * hat[j];
            d_shift[j] += grad[j];
            grad[j] *= gain[j];
            total += grad[j];
            along += grad[j] * hat[j];
        }
        total /= d, along /= d;
        for (j = 0; j < d; j++)
            grad[j] = (grad[j] - total - hat[j] * along) * scale[i];
    }
}

INLINE real row_dot(long d, const real *a, const real *b)
{
    long j = 0;
    vec sums = {0};
    for (; j + LANES <= d; j += LANES)
        sums += AT(const vec, a + j) * AT(const vec, b + j);
    real total = lane_sum(sums);
    for (; j < d; j++)
        total += a[j] * b[j];
    return total;
}

/* Ordinary scores can be exponentiated as they are; where a sum is far from 1, that of the scores
 * below the largest one is taken. */
INLINE void softmax_rows(long n, long d, real *restrict x)
{
    const real large = (real)2e17;
    for (long i = 0; i < n; i++, x += d) {
        real p[d];
        for (long j = 0; j < d; j++)
            p[j] = exponential(x[j]);
        real total = row_sum(d, p);
        if (!(total < large && total * large > 1)) {
            real top = x[0];
            for (long j = 0; j < d; j++)
                top = x[j] > top ? x[j] : top;
            for (long j = 0; j < d; j++)
                p[j] = exponential(x[j] - top);
            total = row_sum(d, p);
        }
        real part = 1 / total;
        for (long j = 0; j < d; j++)
            x[j] = p[j] * part;
    }
}

/* grad: of the weights p, then of the scores. */
INLINE void unsoftmax_rows(long n, long d, const real *restrict p, real *restrict grad)
{
    for (long i = 0; i < n; i++, p += d, grad += d) {
        real total = row_dot(d, p, grad);
        for (long j = 0; j < d; j++)
            grad[j] = p[j] * (grad[j] - total);
    }
}

static void softmax_columns(long n, long m, real *restrict x, real *restrict top,
                            real *restrict total)
{
    memcpy(top, x, m * sizeof(real));
    for (long i = 1; i < n; i++)
        for (long j = 0; j < m; j++)
            top[j] = x[i * m + j] > top[j] ? x[i * m + j] : top[j];
    memset(total, 0, m * sizeof(real));
    for (long i = 0; i < n; i++)
        for (long j = 0; j < m; j++) {
            real p = exponential(x[i * m + j] - top[j]);
            x[i * m + j] = p;
            total[j] += p;
        }
    for (long j = 0; j < m; j++)
        total[j] = 1 / total[j];
    for (long i = 0; i < n; i++)
        for (long j = 0; j < m; j++)
            x[i * m + j] *= total[j];
}
