/* SPDX-License-Identifier: BSD-2-Clause */
/* Ten digits drawn from strokes.
 *
 * A digit has a few handwriting variants; a variant is a few strokes in the unit square (y
 * downward); a stroke is a list of points, joined by straight lines or by a Catmull-Rom curve. Each
 * image takes one variant at random, jitters its points, and maps them by a random affine map
 *
 *     A = rotation * shear * diag(scale x, scale y),    p -> centre + shift + A (p - (1/2, 1/2)).
 *
 * A pixel's ink follows from its distance to the nearest stroke: 1 inside the pen's half width and
 * 0 beyond one soft edge, linear between, which is anti-aliasing and blur in one. A random
 * brightness and noise per pixel follow. The maps vary enough that a linear classifier on the
 * pixels fails for about one digit in seven, while a convolutional network recognises nearly all.
 *
 * Images are reproducible across platforms: only + - * / and sqrt of IEEE doubles are used (angles
 * are drawn as the tangent of their half), and each image has its own random stream, keyed by the
 * seed and its position. Compile without contraction to fused multiply-add (ISO C mode does). */
#define _POSIX_C_SOURCE 200809L
#include "digits.h"

#include <tenon.h>

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { kSide = 28, kPixels = kSide * kSide, kMaxPoints = 14, kMaxStrokes = 3, kMaxVariants = 3 };

typedef struct {
  double x, y;
} Point;

typedef struct {
  int smooth, count;
  Point point[kMaxPoints];
} Stroke;

typedef struct {
  int count;
  Stroke stroke[kMaxStrokes];
} Variant;

typedef struct {
  int count;
  Variant variant[kMaxVariants];
} Glyph;

/* clang-format off */
static const Glyph kGlyphs[10] = {
  {2, {{1, {{1, 9, {{.50,.05},{.24,.17},{.15,.50},{.24,.83},{.50,.95},{.76,.83},{.85,.50},{.76,.17},{.50,.05}}}}},
       {1, {{1, 9, {{.64,.09},{.40,.12},{.26,.48},{.30,.85},{.50,.95},{.70,.75},{.77,.40},{.66,.12},{.46,.07}}}}}}},
  {3, {{1, {{0, 2, {{.50,.05},{.50,.95}}}}},
       {1, {{0, 3, {{.28,.28},{.54,.05},{.54,.95}}}}},
       {2, {{0, 3, {{.30,.25},{.52,.05},{.52,.94}}}, {0, 2, {{.26,.94},{.78,.94}}}}}}},
  {2, {{2, {{1, 7, {{.18,.27},{.32,.08},{.58,.05},{.77,.22},{.70,.45},{.45,.70},{.20,.93}}},
            {0, 2, {{.20,.93},{.83,.93}}}}},
       {1, {{1, 11, {{.20,.22},{.42,.05},{.70,.12},{.72,.38},{.50,.66},{.28,.88},{.17,.86},{.24,.74},{.44,.82},{.62,.94},{.85,.88}}}}}}},
  {2, {{2, {{1, 5, {{.20,.17},{.44,.05},{.72,.16},{.67,.38},{.42,.47}}},
            {1, 5, {{.42,.47},{.73,.55},{.80,.77},{.54,.95},{.18,.84}}}}},
       {2, {{0, 3, {{.20,.07},{.76,.07},{.44,.42}}},
            {1, 5, {{.44,.42},{.74,.50},{.79,.76},{.50,.95},{.18,.85}}}}}}},
  {2, {{2, {{0, 3, {{.30,.05},{.17,.56},{.84,.56}}}, {0, 2, {{.68,.12},{.66,.95}}}}},
       {1, {{0, 4, {{.64,.95},{.64,.05},{.14,.66},{.87,.66}}}}}}},
  {2, {{2, {{0, 3, {{.77,.07},{.29,.07},{.24,.45}}},
            {1, 6, {{.24,.45},{.52,.37},{.79,.55},{.76,.82},{.48,.95},{.18,.85}}}}},
       {1, {{1, 8, {{.76,.09},{.48,.06},{.27,.20},{.36,.42},{.66,.52},{.77,.75},{.52,.94},{.19,.87}}}}}}},
  {2, {{1, {{1, 9, {{.70,.07},{.40,.25},{.22,.60},{.34,.90},{.60,.94},{.78,.74},{.62,.54},{.38,.57},{.24,.72}}}}},
       {2, {{0, 2, {{.52,.05},{.22,.62}}},
            {1, 8, {{.22,.62},{.22,.82},{.42,.95},{.68,.90},{.78,.70},{.62,.52},{.38,.54},{.22,.68}}}}}}},
  {3, {{1, {{0, 3, {{.17,.08},{.81,.08},{.40,.95}}}}},
       {2, {{0, 3, {{.17,.08},{.82,.08},{.42,.95}}}, {0, 2, {{.34,.50},{.76,.50}}}}},
       {1, {{1, 6, {{.16,.16},{.36,.07},{.60,.12},{.82,.06},{.58,.45},{.42,.95}}}}}}},
  {2, {{1, {{1, 13, {{.74,.16},{.50,.05},{.26,.18},{.34,.38},{.64,.56},{.80,.76},{.52,.95},{.20,.80},{.34,.58},{.62,.42},{.76,.24},{.66,.09},{.50,.05}}}}},
       {2, {{1, 7, {{.50,.05},{.27,.14},{.30,.38},{.50,.46},{.71,.38},{.73,.14},{.50,.05}}},
            {1, 7, {{.50,.46},{.22,.58},{.22,.86},{.50,.95},{.79,.86},{.78,.58},{.50,.46}}}}}}},
  {2, {{2, {{1, 7, {{.74,.22},{.50,.05},{.24,.20},{.26,.44},{.52,.52},{.72,.40},{.74,.22}}},
            {0, 2, {{.74,.22},{.70,.95}}}}},
       {1, {{1, 11, {{.75,.24},{.52,.06},{.26,.16},{.24,.40},{.48,.50},{.70,.38},{.76,.20},{.77,.52},{.66,.84},{.44,.95},{.24,.86}}}}}}},
};
/* clang-format on */

/* ---- random numbers: one splitmix64 sequence per image ---- */

static uint64_t mix(uint64_t z) {
  z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
  return z ^ (z >> 31);
}

static uint64_t streamOf(uint64_t seed, uint64_t index) {
  return mix(seed + UINT64_C(0x9e3779b97f4a7c15)) ^ mix(index * UINT64_C(0xd1342543de82ef95) + 1);
}

static uint64_t nextBits(uint64_t* stream) {
  *stream += UINT64_C(0x9e3779b97f4a7c15);
  return mix(*stream);
}

static double uniform(uint64_t* stream, double low, double high) {
  return low + (high - low) * ((double)(nextBits(stream) >> 11) * (1.0 / 9007199254740992.0));
}

/* Nearly normal with standard deviation `sigma`: the sum of three uniforms, so bounded by 3 sigma.
 */
static double bell(uint64_t* stream, double sigma) {
  double sum = uniform(stream, -1, 1);
  sum += uniform(stream, -1, 1);
  sum += uniform(stream, -1, 1);
  return sigma * sum;
}

/* ---- drawing ---- */

typedef struct {
  double a[2][2];
  Point centre;
} Affine;

static Affine randomAffine(uint64_t* stream) {
  const double t = uniform(stream, -0.15, 0.15); /* tangent of half the angle: +-17 degrees */
  const double c = (1 - t * t) / (1 + t * t), s = 2 * t / (1 + t * t);
  const double shear = uniform(stream, -0.28, 0.28);
  const double sx = uniform(stream, 11.5, 17.0), sy = uniform(stream, 15.0, 20.0);
  Affine map;
  map.a[0][0] = c * sx;
  map.a[0][1] = (c * shear - s) * sy;
  map.a[1][0] = s * sx;
  map.a[1][1] = (s * shear + c) * sy;
  map.centre.x = 0.5 * (kSide - 1) + uniform(stream, -2.4, 2.4);
  map.centre.y = 0.5 * (kSide - 1) + uniform(stream, -2.4, 2.4);
  return map;
}

static Point mapped(const Affine* map, Point p) {
  const double u = p.x - 0.5, v = p.y - 0.5;
  Point q;
  q.x = map->centre.x + map->a[0][0] * u + map->a[0][1] * v;
  q.y = map->centre.y + map->a[1][0] * u + map->a[1][1] * v;
  return q;
}

static int clampPixel(double x) {
  return x < 0 ? 0 : x > kSide - 1 ? kSide - 1 : (int)x;
}

/* Lowers distance2 (squared distance of each pixel to the ink so far) to that of the segment p q,
 * for the pixels within `reach` of its bounding box. */
static void addSegment(Point p, Point q, double reach, double* distance2) {
  const double dx = q.x - p.x, dy = q.y - p.y, length2 = dx * dx + dy * dy;
  const int x0 = clampPixel((p.x < q.x ? p.x : q.x) - reach),
            y0 = clampPixel((p.y < q.y ? p.y : q.y) - reach);
  const int x1 = clampPixel((p.x > q.x ? p.x : q.x) + reach + 1);
  const int y1 = clampPixel((p.y > q.y ? p.y : q.y) + reach + 1);
  for (int y = y0; y <= y1; ++y)
    for (int x = x0; x <= x1; ++x) {
      double t = length2 > 0 ? ((x - p.x) * dx + (y - p.y) * dy) / length2 : 0;
      t = t < 0 ? 0 : t > 1 ? 1 : t;
      const double ex = p.x + t * dx - x, ey = p.y + t * dy - y, d2 = ex * ex + ey * ey;
      if (d2 < distance2[y * kSide + x])
        distance2[y * kSide + x] = d2;
    }
}

/* The Catmull-Rom curve from b to c at parameter t; a and d are the points before and after. */
static Point curve(Point a, Point b, Point c, Point d, double t) {
  const double wa = t * (t * (2 - t) - 1), wb = t * t * (3 * t - 5) + 2;
  const double wc = t * (t * (4 - 3 * t) + 1), wd = t * t * (t - 1);
  Point p;
  p.x = 0.5 * (wa * a.x + wb * b.x + wc * c.x + wd * d.x);
  p.y = 0.5 * (wa * a.y + wb * b.y + wc * c.y + wd * d.y);
  return p;
}

static void addStroke(const Stroke* stroke, const Affine* map, double jitter, double reach,
                      uint64_t* stream, double* distance2) {
  enum { kPieces = 6 };
  const int n = stroke->count, pieces = stroke->smooth ? kPieces : 1;
  Point p[kMaxPoints];
  for (int i = 0; i < n; ++i) {
    p[i].x = stroke->point[i].x + bell(stream, jitter);
    p[i].y = stroke->point[i].y + bell(stream, jitter);
    p[i] = mapped(map, p[i]);
  }
  for (int i = 0; i + 1 < n; ++i) {
    const Point before = p[i > 0 ? i - 1 : 0], after = p[i + 2 < n ? i + 2 : n - 1];
    Point from = p[i];
    for (int k = 1; k <= pieces; ++k) {
      const Point to =
          k == pieces ? p[i + 1] : curve(before, p[i], p[i + 1], after, (double)k / pieces);
      addSegment(from, to, reach, distance2);
      from = to;
    }
  }
}

void DigitsDraw(int digit, unsigned long long seed, unsigned long long index,
                unsigned char pixels[kPixels]) {
  uint64_t stream = streamOf(seed, index);
  const Glyph* glyph = &kGlyphs[digit];
  const Variant* variant = &glyph->variant[nextBits(&stream) % (uint64_t)glyph->count];
  const Affine map = randomAffine(&stream);
  const double pen = uniform(&stream, 0.6, 1.5), edge = uniform(&stream, 0.8, 1.4);
  const double brightness = uniform(&stream, 0.6, 1.0), noise = uniform(&stream, 0.0, 0.1);
  double distance2[kPixels];
  for (int i = 0; i < kPixels; ++i)
    distance2[i] = 4.0 * kPixels;
  for (int s = 0; s < variant->count; ++s)
    addStroke(&variant->stroke[s], &map, 0.02, pen + edge, &stream, distance2);
  for (int i = 0; i < kPixels; ++i) {
    double ink = (pen + edge - sqrt(distance2[i])) / edge;
    ink = ink < 0 ? 0 : ink > 1 ? 1 : ink;
    const double value = 255 * (brightness * ink + bell(&stream, noise));
    pixels[i] = (unsigned char)(value < 0 ? 0 : value > 255 ? 255 : value + 0.5);
  }
}

/* ---- files ---- */

static char lastMessage[512];

const char* DigitsMessage(void) {
  return lastMessage;
}

static int fail(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(lastMessage, sizeof lastMessage, format, arguments);
  va_end(arguments);
  return 1;
}

/* Labels 0..9 in turn, then shuffled (Fisher-Yates; the bias of the remainder is below 2^-32). */
static void shuffledLabels(int count, uint64_t stream, unsigned char* label) {
  for (int i = 0; i < count; ++i)
    label[i] = (unsigned char)(i % 10);
  for (int i = count - 1; i > 0; --i) {
    const int j = (int)(nextBits(&stream) % (uint64_t)(i + 1));
    const unsigned char other = label[i];
    label[i] = label[j];
    label[j] = other;
  }
}

/* An IDX header: two zero bytes, type 8 (unsigned byte), the rank, then big-endian extents. Returns
 * its length. */
static size_t putHeader(unsigned char* file, int rank, int count) {
  const int extent[3] = {count, kSide, kSide};
  const unsigned char start[4] = {0, 0, 8, (unsigned char)rank};
  memcpy(file, start, sizeof start);
  for (int d = 0; d < rank; ++d)
    for (int b = 0; b < 4; ++b)
      file[4 + 4 * d + b] = (unsigned char)(extent[d] >> (24 - 8 * b));
  return (size_t)(4 + 4 * rank);
}

enum { kMaxHeader = 16 };

static size_t putImages(unsigned char* file, const unsigned char* label, int count, uint64_t seed) {
  const size_t header = putHeader(file, 3, count);
  for (int i = 0; i < count; ++i)
    DigitsDraw(label[i], seed, (uint64_t)i, file + header + (size_t)i * kPixels);
  return header + (size_t)count * kPixels;
}

static size_t putLabels(unsigned char* file, const unsigned char* label, int count) {
  const size_t header = putHeader(file, 1, count);
  memcpy(file + header, label, (size_t)count);
  return header + (size_t)count;
}

static int writeFile(const char* path, const unsigned char* bytes, size_t length) {
  if (TenonWriteFile(path, (const char*)bytes, (TenonInt)length) == TENON_SUCCESS)
    return 0;
  return fail("cannot write '%s'", path);
}

enum { kPathLength = 4096 };

/* The images of a set, then its labels. */
static int writeSet(const char* folder, const char* name, int count, uint64_t stream) {
  unsigned char* label = malloc((size_t)count);
  unsigned char* file = malloc(kMaxHeader + (size_t)count * kPixels);
  char path[kPathLength];
  int failed = !label || !file ? fail("out of memory for %d images", count) : 0;
  if (!failed) {
    shuffledLabels(count, mix(stream), label);
    snprintf(path, sizeof path, "%s/%s-images-idx3-ubyte", folder, name);
    failed = writeFile(path, file, putImages(file, label, count, stream));
  }
  if (!failed) {
    snprintf(path, sizeof path, "%s/%s-labels-idx1-ubyte", folder, name);
    failed = writeFile(path, file, putLabels(file, label, count));
  }
  free(file);
  free(label);
  return failed;
}

int DigitsWrite(const char* folder, int train, int test, unsigned long long seed) {
  lastMessage[0] = '\0';
  if (!folder || strlen(folder) + 64 > kPathLength)
    return fail("the folder name is missing or longer than %d bytes", kPathLength - 64);
  if (train < 1 || test < 1)
    return fail("%d training and %d test images requested; both must be at least 1", train, test);
  if (mkdir(folder, 0777) != 0 && errno != EEXIST)
    return fail("cannot create the folder '%s': %s", folder, strerror(errno));
  /* With two streams the two sets share no image. */
  return writeSet(folder, "train", train, streamOf(seed, 0)) ||
         writeSet(folder, "t10k", test, streamOf(seed, 1));
}
