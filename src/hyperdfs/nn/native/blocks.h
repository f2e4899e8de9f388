/* The attention blocks for the tokens of one mask, and their gradients.
 *
 * Each block has its weights, their gradients (added to) and what it keeps for its gradient. `room`
 * is scratch memory. Algebra and names are those of ../tokens.py.
 */
#include "rows.h"

/* ---- o = LN(u), y = LN(o + ReLU(o W + b)): the end of every attention block. ---- */

typedef struct {
    const real *weight, *bias, *gain1, *shift1, *gain2, *shift2, *weight_t;
} Tail;
typedef struct {
    real *weight, *bias, *gain1, *shift1, *gain2, *shift2;
} TailGrad;
typedef struct {
    real *hat1, *scale1, *o, *feed, *hat2, *scale2;
} TailKept;

static void norm(long n, long d, const real *x, const real *gain, const real *shift, real *hat,
                 real *scale, real *y)
{
#define CALL(width) norm_rows(n, width, x, gain, shift, hat, scale, y)
    BY_WIDTH(CALL, d);
#undef CALL
}

static void unnorm(long n, long d, real *grad, const real *hat, const real *scale,
                   const real *gain, real *d_gain, real *d_shift)
{
#define CALL(width) unnorm_rows(n, width, grad, hat, scale, gain, d_gain, d_shift)
    BY_WIDTH(CALL, d);
#undef CALL
}

static void tail(long n, long d, const Tail *w, const real *u, TailKept *k, real *y)
{
    norm(n, d, u, w->gain1, w->shift1, k->hat1, k->scale1, k->o);
    product(n, d, d, k->o, d, 1, w->weight, d, k->feed, d, 0);
    for (long i = 0; i < n; i++)
        for (long j = 0; j < d; j++) {
            real f = k->feed[i * d + j] + w->bias[j];
            f = f < 0 ? 0 : f;
            k->feed[i * d + j] = f;
            y[i * d + j] = k->o[i * d + j] + f;
        }
    norm(n, d, y, w->gain2, w->shift2, k->hat2, k->scale2, y);
}

/* grad: of y, then of u; room for n x d numbers. */
static void untail(long n, long d, const Tail *w, const TailGrad *g, const TailKept *k,
                   real *restrict grad, real *restrict room)
{
    unnorm(n, d, grad, k->hat2, k->scale2, w->gain2, g->gain2, g->shift2);
    for (long i = 0; i < n * d; i++)
        room[i] = k->feed[i] > 0 ? grad[i] : 0;
    product(d, d, n, k->o, 1, d, room, d, g->weight, d, 1);
    add_sum(n, d, room, g->bias);
    product(n, d, d, room, d, 1, w->weight_t, d, grad, d, 1);
    unnorm(n, d, grad, k->hat1, k->scale1, w->gain1, g->gain1, g->shift1);
}

/* ---- Tokens look at the induced points: u = Q + softmax(Q K') V, head by head. ---- */

typedef struct {
    const real *key, *key_bias, *value, *value_bias;
    Tail tail;
    const real *key_t, *value_t;
} Spread;
typedef struct {
    real *key, *key_bias, *value, *value_bias;
    TailGrad tail;
} SpreadGrad;
typedef struct {
    real *q, *h, *keys, *values, *p, *y;
    TailKept tail;
} SpreadKept;

typedef struct {
    long m, points, d, heads;
} Shape;

static void softmax(Shape s, real *p)
{
#define CALL(width) softmax_rows(s.m *s.heads, width, p)
    BY_WIDTH(CALL, s.points);
#undef CALL
}

static void unsoftmax(Shape s, const real *p, real *grad)
{
#define CALL(width) unsoftmax_rows(s.m *s.heads, width, p, grad)
    BY_WIDTH(CALL, s.points);
#undef CALL
}

static void spread(Shape s, const Spread *w, SpreadKept *k, real *room)
{
    long d = s.d, dh = d / s.heads, width = s.heads * s.points;
    product(s.points, d, d, k->h, d, 1, w->key, d, k->keys, d, 0);
    add_row(s.points, d, k->keys, w->key_bias);
    product(s.points, d, d, k->h, d, 1, w->value, d, k->values, d, 0);
    add_row(s.points, d, k->values, w->value_bias);
    transpose(s.points, d, k->keys, room);
    for (long h = 0; h < s.heads; h++)
        product(s.m, s.points, dh, k->q + h * dh, d, 1, room + h * dh * s.points, s.points,
                k->p + h * s.points, width, 0);
    softmax(s, k->p);
    memcpy(room, k->q, s.m * d * sizeof(real));
    for (long h = 0; h < s.heads; h++)
        product(s.m, dh, s.points, k->p + h * s.points, width, 1, k->values + h * dh, d,
                room + h * dh, d, 1);
    tail(s.m, d, &w->tail, room, &k->tail, k->y);
}

/* grad: of y, then of q; d_h: of the induced points. */
static void unspread(Shape s, const Spread *w, const SpreadGrad *g, const SpreadKept *k,
                     real *grad, real *d_h, real *room)
{
    long d = s.d, dh = d / s.heads, width = s.heads * s.points, n = s.points;
    untail(s.m, d, &w->tail, &g->tail, &k->tail, grad, room);
    real *d_scores = room, *d_keys = room + s.m * width, *d_values = d_keys + n * d;
    real *turned = d_values + n * d;
    transpose(n, d, k->values, turned);
    for (long h = 0; h < s.heads; h++) {
        product(s.m, n, dh, grad + h * dh, d, 1, turned + h * dh * n, n, d_scores + h * n, width,
                0);
        product(n, dh, s.m, k->p + h * n, 1, width, grad + h * dh, d, d_values + h * dh, d, 0);
    }
    unsoftmax(s, k->p, d_scores);
    for (long h = 0; h < s.heads; h++) {
        product(n, dh, s.m, d_scores + h * n, 1, width, k->q + h * dh, d, d_keys + h * dh, d, 0);
        product(s.m, dh, n, d_scores + h * n, width, 1, k->keys + h * dh, d, grad + h * dh, d, 1);
    }
    product(d, d, n, k->h, 1, d, d_keys, d, g->key, d, 1);
    add_sum(n, d, d_keys, g->key_bias);
    product(d, d, n, k->h, 1, d, d_values, d, g->value, d, 1);
    add_sum(n, d, d_values, g->value_bias);
    product(n, d, d, d_keys, d, 1, w->key_t, d, d_h, d, 0);
    product(n, d, d, d_values, d, 1, w->value_t, d, d_h, d, 1);
}

/* ---- A later ISAB: the points look at the tokens, (P' X) W_v, then the tokens at them. ---- */

typedef struct {
    const real *query, *query_bias, *score, *value, *start;
    Tail tail;
    Spread spread;
    const real *query_t, *score_t, *value_t;
} Block;
typedef struct {
    real *query, *query_bias, *score, *value, *start;
    TailGrad tail;
    SpreadGrad spread;
} BlockGrad;
typedef struct {
    const real *x;
    real *p, *mixed;
    TailKept tail;
    SpreadKept spread;
} BlockKept;

static void block(Shape s, const Block *w, BlockKept *k, real *room)
{
    long d = s.d, dh = d / s.heads, width = s.heads * s.points, n = s.points;
    product(s.m, width, d, k->x, d, 1, w->score, width, k->p, width, 0);
    softmax_columns(s.m, width, k->p, room, room + width);
    product(width, d, s.m, k->p, 1, width, k->x, d, k->mixed, d, 0);
    memcpy(room, w->start, n * d * sizeof(real));
    for (long h = 0; h < s.heads; h++)
        product(n, dh, d, k->mixed + h * n * d, d, 1, w->value + h * dh, d, room + h * dh, d, 1);
    tail(n, d, &w->tail, room, &k->tail, k->spread.h);
    product(s.m, d, d, k->x, d, 1, w->query, d, k->spread.q, d, 0);
    add_row(s.m, d, k->spread.q, w->query_bias);
    spread(s, &w->spread, &k->spread, room);
}

/* grad: of y, then of x. */
static void unblock(Shape s, const Block *w, const BlockGrad *g, const BlockKept *k,
                    real *restrict grad, real *d_h, real *room)
{
    long d = s.d, dh = d / s.heads, width = s.heads * s.points, n = s.points;
    unspread(s, &w->spread, &g->spread, &k->spread, grad, d_h, room);
    product(d, d, s.m, k->x, 1, d, grad, d, g->query, d, 1);
    add_sum(s.m, d, grad, g->query_bias);
    real *d_x = room, *d_scores = d_x + s.m * d, *d_mixed = d_scores + s.m * width;
    real *turned = d_mixed + width * d, *total = turned + width * d;
    product(s.m, d, d, grad, d, 1, w->query_t, d, d_x, d, 0);
    untail(n, d, &w->tail, &g->tail, &k->tail, d_h, turned);
    for (long i = 0; i < n * d; i++)
        g->start[i] += d_h[i];
    for (long h = 0; h < s.heads; h++) {
        product(d, dh, n, k->mixed + h * n * d, 1, d, d_h + h * dh, d, g->value + h * dh, d, 1);
        product(n, d, dh, d_h + h * dh, d, 1, w->value_t + h * dh * d, d, d_mixed + h * n * d, d,
                0);
    }
    for (long c = 0; c < width; c++)
        total[c] = row_dot(d, d_mixed + c * d, k->mixed + c * d);
    transpose(width, d, d_mixed, turned);
    product(s.m, width, d, k->x, d, 1, turned, width, d_scores, width, 0);
    for (long i = 0; i < s.m; i++)
        for (long c = 0; c < width; c++)
            d_scores[i * width + c] = k->p[i * width + c] * (d_scores[i * width + c] - total[c]);
    product(d, width, s.m, k->x, 1, d, d_scores, width, g->score, width, 1);
    product(s.m, d, width, k->p, width, 1, d_mixed, d, d_x, d, 1);
    product(s.m, d, width, d_scores, width, 1, w->score_t, d, d_x, d, 1);
    memcpy(grad, d_x, s.m * d * sizeof(real));
}
