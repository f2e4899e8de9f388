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

static void softmax(Shape s, const real *scores, real *p, real *room)
{
#define CALL(width) softmax_rows(s.m *s.heads, width, scores, p, room)
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
    real *scores = room, *turned = scores + s.m * width;
    transpose(s.points, d, k->keys, turned);
    for (long h = 0; h < s.heads; h++)
        product(s.m, s.points, dh, k->q + h * dh, d, 1, turned + h * dh * s.points, s.points,
                scores + h * s.points, width, 0);
    softmax(s, scores, k->p, turned);
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

/* ---- A later ISAB: the points look at the tokens, then the tokens at them. `partners` are the
 * queries of the points, scaled; no bias of the keys, which would change nothing. ---- */

typedef struct {
    const real *query, *query_bias, *key, *value, *partners, *start;
    Tail tail;
    Spread spread;
    const real *query_t, *key_t, *value_t, *partners_t;
} Block;
typedef struct {
    real *query, *query_bias, *key, *value, *partners, *start;
    TailGrad tail;
    SpreadGrad spread;
} BlockGrad;
typedef struct {
    const real *x;
    real *keys, *values, *p;
    TailKept tail;
    SpreadKept spread;
} BlockKept;

static void block(Shape s, const Block *w, BlockKept *k, real *room)
{
    long d = s.d, dh = d / s.heads, width = s.heads * s.points, n = s.points;
    product(s.m, d, d, k->x, d, 1, w->key, d, k->keys, d, 0);
    product(s.m, d, d, k->x, d, 1, w->value, d, k->values, d, 0);
    for (long h = 0; h < s.heads; h++)
        product(s.m, n, dh, k->keys + h * dh, d, 1, w->partners_t + h * dh * n, n, room + h * n,
                width, 0);
    softmax_columns(s.m, width, room, k->p);
    memcpy(room, w->start, n * d * sizeof(real));
    for (long h = 0; h < s.heads; h++)
        product(n, dh, s.m, k->p + h * n, 1, width, k->values + h * dh, d, room + h * dh, d, 1);
    tail(n, d, &w->tail, room, &k->tail, k->spread.h);
    product(s.m, d, d, k->x, d, 1, w->query, d, k->spread.q, d, 0);
    add_row(s.m, d, k->spread.q, w->query_bias);
    spread(s, &w->spread, &k->spread, room);
}

/* What a projection of the tokens adds to the gradients of its weights and of the tokens. */
static void unproject(Shape s, const real *x, const real *weight_t, const real *grad,
                      real *d_weight, real *d_x, int add)
{
    product(s.d, s.d, s.m, x, 1, s.d, grad, s.d, d_weight, s.d, 1);
    product(s.m, s.d, s.d, grad, s.d, 1, weight_t, s.d, d_x, s.d, add);
}

/* grad: of y, then of x. */
static void unblock(Shape s, const Block *w, const BlockGrad *g, const BlockKept *k,
                    real *restrict grad, real *d_h, real *room)
{
    long d = s.d, dh = d / s.heads, width = s.heads * s.points, n = s.points;
    unspread(s, &w->spread, &g->spread, &k->spread, grad, d_h, room);
    add_sum(s.m, d, grad, g->query_bias);
    untail(n, d, &w->tail, &g->tail, &k->tail, d_h, room);
    for (long i = 0; i < n * d; i++)
        g->start[i] += d_h[i];
    real *d_x = room, *d_scores = d_x + s.m * d, *d_keys = d_scores + s.m * width;
    real *d_values = d_keys + s.m * d, *turned = d_values + s.m * d;
    transpose(n, d, d_h, turned);
    for (long h = 0; h < s.heads; h++) {
        product(s.m, n, dh, k->values + h * dh, d, 1, turned + h * dh * n, n, d_scores + h * n,
                width, 0);
        product(s.m, dh, n, k->p + h * n, width, 1, d_h + h * dh, d, d_values + h * dh, d, 0);
    }
    unsoftmax_columns(s.m, width, k->p, d_scores);
    for (long h = 0; h < s.heads; h++) {
        product(n, dh, s.m, d_scores + h * n, 1, width, k->keys + h * dh, d, g->partners + h * dh,
                d, 1);
        product(s.m, dh, n, d_scores + h * n, width, 1, w->partners + h * dh, d, d_keys + h * dh,
                d, 0);
    }
    unproject(s, k->x, w->query_t, grad, g->query, d_x, 0);
    unproject(s, k->x, w->key_t, d_keys, g->key, d_x, 1);
    unproject(s, k->x, w->value_t, d_values, g->value, d_x, 1);
    memcpy(grad, d_x, s.m * d * sizeof(real));
}
