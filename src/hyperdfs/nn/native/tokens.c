/* The token part of the set encoder, one mask at a time, so that all it touches stays in the cache.
 *
 * Nothing is kept between forward and backward: the tokens of a mask are cheaper to compute again
 * than to fetch from memory.
 */
#include "blocks.h"

/* Memory is handed out from one block. Without a block it is only counted. */
typedef struct {
    real *start;
    long used;
} Pool;

static real *take(Pool *pool, long n)
{
    real *part = pool->start ? pool->start + pool->used : NULL;
    pool->used += (n + LANES - 1) / LANES * LANES;
    return part;
}

static const real *turned(Pool *pool, long n, long m, const real *a)
{
    real *t = take(pool, n * m);
    if (t)
        transpose(n, m, a, t);
    return t;
}

/* Weights and their gradients come as lists of matrices, in the order of the structures. */
static Tail read_tail(const real ***w, long d, Pool *pool)
{
    const real **p = *w;
    *w += 6;
    return (Tail){p[0], p[1], p[2], p[3], p[4], p[5], turned(pool, d, d, p[0])};
}

static TailGrad read_tail_grad(real ***g)
{
    real **p = *g;
    *g += 6;
    return (TailGrad){p[0], p[1], p[2], p[3], p[4], p[5]};
}

static Spread read_spread(const real ***w, long d, Pool *pool)
{
    const real **p = *w;
    *w += 4;
    Spread s = {p[0], p[1], p[2], p[3], read_tail(w, d, pool), turned(pool, d, d, p[0]),
                turned(pool, d, d, p[2])};
    return s;
}

static SpreadGrad read_spread_grad(real ***g)
{
    real **p = *g;
    *g += 4;
    return (SpreadGrad){p[0], p[1], p[2], p[3], read_tail_grad(g)};
}

static TailKept keep_tail(long n, long d, Pool *pool)
{
    return (TailKept){take(pool, n * d), take(pool, n), take(pool, n * d),
                      take(pool, n * d), take(pool, n * d), take(pool, n)};
}

static SpreadKept keep_spread(Shape s, Pool *pool)
{
    long rows = s.m * s.d, few = s.points * s.d;
    return (SpreadKept){take(pool, rows), take(pool, few), take(pool, few), take(pool, few),
                        take(pool, s.m * s.heads * s.points), take(pool, rows),
                        keep_tail(s.m, s.d, pool)};
}

typedef struct {
    Shape shape;
    long more;
    const real *start; /* queries of the inducing points */
    Tail points;       /* ends the first half of the first ISAB */
    TailKept points_kept;
    Spread first;
    SpreadKept first_kept;
    Block *blocks;
    BlockGrad *grads;
    BlockKept *kept;
    real *room, *d_x, *d_h, *memory;
} Stack;

static void free_stack(Stack *t)
{
    free(t->blocks);
    free(t->grads);
    free(t->kept);
    free(t->memory);
}

static void lay_out(Stack *t, const real **w, Pool *pool)
{
    Shape s = t->shape;
    long d = s.d, width = s.heads * s.points;
    t->room = take(pool, s.m * (width + 3 * d + s.heads) + 3 * s.points * d + 4);
    t->d_x = take(pool, s.m * d);
    t->d_h = take(pool, s.points * d);
    t->start = *w++;
    t->points = read_tail(&w, d, pool);
    t->points_kept = keep_tail(s.points, d, pool);
    t->first = read_spread(&w, d, pool);
    t->first_kept = keep_spread(s, pool);
    const real *x = t->first_kept.y;
    for (long i = 0; i < t->more; i++) {
        const real **p = w;
        w += 6;
        Block b = {.query = p[0], .query_bias = p[1], .key = p[2], .value = p[3],
                   .partners = p[4], .start = p[5]};
        b.tail = read_tail(&w, d, pool);
        b.spread = read_spread(&w, d, pool);
        b.query_t = turned(pool, d, d, p[0]);
        b.key_t = turned(pool, d, d, p[2]);
        b.value_t = turned(pool, d, d, p[3]);
        b.partners_t = turned(pool, s.points, d, p[4]);
        t->blocks[i] = b;
        BlockKept k = {.x = x, .keys = take(pool, s.m * d), .values = take(pool, s.m * d)};
        k.p = take(pool, s.m * width);
        k.tail = keep_tail(s.points, d, pool);
        k.spread = keep_spread(s, pool);
        t->kept[i] = k;
        x = k.spread.y;
    }
}

/* 0 where memory is short. */
static int make_stack(Stack *t, Shape s, long more, const real **w)
{
    *t = (Stack){.shape = s, .more = more};
    t->blocks = calloc(more + 1, sizeof(Block)); /* + 1: never nothing */
    t->grads = calloc(more + 1, sizeof(BlockGrad));
    t->kept = calloc(more + 1, sizeof(BlockKept));
    if (t->blocks && t->grads && t->kept) {
        Pool pool = {NULL, 0};
        lay_out(t, w, &pool);
        pool.start = t->memory = aligned_alloc(BYTES, pool.used * sizeof(real));
        pool.used = 0;
        if (t->memory) {
            lay_out(t, w, &pool);
            return 1;
        }
    }
    free_stack(t);
    return 0;
}

/* The points have looked at the tokens: u = Q + N / D. `sums` holds N (heads, points, dim / heads)
 * and then D (heads, points). */
static void divide(Shape s, const real *start, const real *sums, real *u)
{
    long dh = s.d / s.heads;
    for (long h = 0; h < s.heads; h++)
        for (long i = 0; i < s.points; i++) {
            long own = h * s.points + i, to = i * s.d + h * dh;
            real part = 1 / sums[s.points * s.d + own];
            for (long c = 0; c < dh; c++)
                u[to + c] = start[to + c] + sums[own * dh + c] * part;
        }
}

static void undivide(Shape s, const real *sums, const real *d_u, real *d_start, real *d_sums)
{
    long dh = s.d / s.heads;
    for (long h = 0; h < s.heads; h++)
        for (long i = 0; i < s.points; i++) {
            long own = h * s.points + i, from = i * s.d + h * dh;
            real part = 1 / sums[s.points * s.d + own], along = 0;
            for (long c = 0; c < dh; c++) {
                d_start[from + c] += d_u[from + c];
                d_sums[own * dh + c] = d_u[from + c] * part;
                along += d_sums[own * dh + c] * sums[own * dh + c];
            }
            d_sums[s.points * s.d + own] = -along * part;
        }
}

/* All tokens of one mask; returns those of the last layer. */
static const real *tokens(Stack *t, const real *mask, const real *off, const real *change,
                          const real *sums)
{
    Shape s = t->shape;
    for (long i = 0; i < s.m; i++)
        for (long j = 0; j < s.d; j++)
            t->first_kept.q[i * s.d + j] = off[i * s.d + j] + mask[i] * change[i * s.d + j];
    divide(s, t->start, sums, t->room);
    tail(s.points, s.d, &t->points, t->room, &t->points_kept, t->first_kept.h);
    spread(s, &t->first, &t->first_kept, t->room);
    for (long i = 0; i < t->more; i++)
        block(s, &t->blocks[i], &t->kept[i], t->room);
    return t->more ? t->kept[t->more - 1].spread.y : t->first_kept.y;
}

int forward(long n, long m, long points, long d, long heads, long more, const real *mask,
            const real *off, const real *change, const real *sums, const real **w, real *pooled)
{
    Stack t;
    if (!make_stack(&t, (Shape){m, points, d, heads}, more, w))
        return 0;
    long n_sums = points * (d + heads);
    memset(pooled, 0, n * d * sizeof(real));
    for (long i = 0; i < n; i++)
        add_sum(m, d, tokens(&t, mask + i * m, off, change, sums + i * n_sums), pooled + i * d);
    free_stack(&t);
    return 1;
}

/* Gradients of weights, off and change are added to what is there. */
int backward(long n, long m, long points, long d, long heads, long more, const real *mask,
             const real *off, const real *change, const real *sums, const real **w,
             const real *grad, real *d_mask, real *d_off, real *d_change, real *d_sums,
             real **d_w)
{
    Stack t;
    if (!make_stack(&t, (Shape){m, points, d, heads}, more, w))
        return 0;
    real *d_x = t.d_x;
    long n_sums = points * (d + heads);
    real *d_start = *d_w++;
    TailGrad points_grad = read_tail_grad(&d_w);
    SpreadGrad first = read_spread_grad(&d_w);
    for (long i = 0; i < more; i++) {
        BlockGrad *g = &t.grads[i];
        g->query = d_w[0], g->query_bias = d_w[1], g->key = d_w[2];
        g->value = d_w[3], g->partners = d_w[4], g->start = d_w[5];
        d_w += 6;
        g->tail = read_tail_grad(&d_w);
        g->spread = read_spread_grad(&d_w);
    }
    for (long i = 0; i < n; i++) {
        tokens(&t, mask + i * m, off, change, sums + i * n_sums);
        for (long j = 0; j < m; j++)
            memcpy(d_x + j * d, grad + i * d, d * sizeof(real));
        for (long l = more; l-- > 0;)
            unblock(t.shape, &t.blocks[l], &t.grads[l], &t.kept[l], d_x, t.d_h, t.room);
        unspread(t.shape, &t.first, &first, &t.first_kept, d_x, t.d_h, t.room);
        untail(points, d, &t.points, &points_grad, &t.points_kept, t.d_h, t.room);
        undivide(t.shape, sums + i * n_sums, t.d_h, d_start, d_sums + i * n_sums);
        dot_rows(m, d, d_x, change, d_mask + i * m);
        for (long j = 0; j < m; j++)
            for (long c = 0; c < d; c++) {
                d_off[j * d + c] += d_x[j * d + c];
                d_change[j * d + c] += mask[i * m + j] * d_x[j * d + c];
            }
    }
    free_stack(&t);
    return 1;
}
