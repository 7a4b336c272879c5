/* SPDX-License-Identifier: BSD-2-Clause */
/* The C functions that tenon_arrays.f90 declares and programs call directly: compilers can copy
 * arrays that are passed to Fortran procedures. CFI_cdesc_t describes an array: its address, type,
 * and of each dimension extent and stride in bytes (sm). These are checked, and that the block is a
 * section of its array. Dimension f of Fortran is dimension c = dims - 1 - f of C: the block
 * u(1:nx, 1:ny) of u(0:nx+1, 0:ny+1) is a tensor [ny, nx] with the strides [nx + 2, 1]. */
#include "arrays.h"

#include <stdlib.h>

enum { kMaxComponents = 6 };

/* The components that TenonFPlaceComponents() has checked so far: their addresses, and lists with
 * an entry for each dimension of each component, in the order of C. */
typedef struct Components {
  int count;
  void* first[kMaxComponents];
  TenonInt strides[kMaxComponents * kMaxDims];
  TenonInt before[kMaxComponents * kMaxDims], after[kMaxComponents * kMaxDims];
} Components;

/* An array to place; lists have an entry for each dimension of the tensor, in Fortran's order. */
typedef struct Placing {
  const char* call;            /* name of the Fortran call, for messages */
  const CFI_cdesc_t* interior; /* the array of this rank's block, without ghost cells */
  int dims;
  int component;             /* counted from 1; 0: the tensor has only this array */
  TenonInt extent[kMaxDims]; /* of this rank's block; a component has one channel */
  TenonInt shape[kMaxDims];  /* of the whole tensor; a component has one channel */
  TenonInt channels;         /* channels of this rank, for components */
  TenonInt haloLow[kMaxDims], haloHigh[kMaxDims]; /* halo that the layout needs around the block */
  int of[kMaxDims]; /* dimension of the array, or its rank for an omitted dimension */
  TenonInt stride[kMaxDims], before[kMaxDims], after[kMaxDims]; /* in the order of C; elements */
  Components* components;                                       /* the list to append to, or NULL */
} Placing;

/* Like Fail(), but the message names the component, if there are several. */
static TenonErrorCode Refuse(TenonErrorCode code, const Placing* p, const char* format, ...) {
  char message[kMaxText];
  int length = 0;
  va_list values;

  if (p->component > 0)
    length = snprintf(message, sizeof message, "component %d: ", p->component);
  va_start(values, format);
  vsnprintf(message + length, sizeof message - (size_t)length, format, values);
  va_end(values);
  return TenonRaiseError(code, message, p->call, "", 0);
}

static TenonErrorCode CheckType(const Placing* p, TenonDTensor x) {
  TenonDataType type;

  TenonCall(TenonDTensorGetDataType(x, &type));
  if (strcmp(NameOfType(p->interior), NameOfDataType(type)) != 0)
    return Refuse(TENON_ERR_DATATYPE, p, "the array is %s, but the tensor is %s",
                  NameOfType(p->interior), NameOfDataType(type));
  return TENON_SUCCESS;
}

static TenonErrorCode ReadBlock(TenonDTensor x, Placing* p) {
  TenonInt low[kMaxDims], high[kMaxDims], first[kMaxDims], end[kMaxDims], shape[kMaxDims];
  TenonLayout layout = NULL;
  int f;

  TenonCall(TenonDTensorGetLayout(x, &layout));
  TenonCall(TenonLayoutGetDim(layout, &p->dims));
  TenonCall(TenonLayoutGetOwnedBox(layout, low, high));
  TenonCall(TenonLayoutGetShape(layout, shape));
  TenonCall(TenonLayoutDestroy(&layout));
  TenonCall(TenonDTensorGetBox(x, first, end));
  for (f = 0; f < p->dims; ++f) {
    const int c = p->dims - 1 - f;

    p->shape[f] = shape[c];
    p->extent[f] = high[c] - low[c];
    p->haloLow[f] = low[c] - first[c];
    p->haloHigh[f] = end[c] - high[c];
  }
  if (p->components && p->dims < 2)
    return Refuse(TENON_ERR_SHAPE, p,
                  "components are channels, but the tensor has 1 dimension; give it batch, channel "
                  "and those of space");
  if (p->components)
    p->channels = p->extent[p->dims - 2];
  if (p->channels > 1)
    p->extent[p->dims - 2] = 1; /* each array is one channel */
  if (p->components)
    p->shape[p->dims - 2] = 1;
  return TENON_SUCCESS;
}

/* Reads the dimensions that `order` lists: one for each dimension of the array, or one for each
 * dimension of the tensor with 0 for an omitted one. */
static TenonErrorCode FollowOrder(const CFI_cdesc_t* order, Placing* p) {
  const int rank = p->interior->rank, count = (int)order->dim[0].extent;
  int taken[CFI_MAX_RANK] = {0}, isLeftOut[kMaxDims], f, i = 0;

  for (f = 0; f < p->dims; ++f)
    isLeftOut[f] = p->of[f] == rank;
  if (count == p->dims && rank < p->dims)
    for (f = 0; f < p->dims; ++f)
      isLeftOut[f] = 0;
  for (f = 0; f < p->dims; ++f) {
    int d;

    if (isLeftOut[f])
      continue;
    d = *(const int*)((const char*)order->base_addr + i++ * order->dim[0].sm);
    if (d == 0 && count > rank)
      d = rank + 1; /* omitted */
    else if (d < 1 || d > rank || taken[d - 1]++)
      return Refuse(
          TENON_ERR_ARG, p, "order(%d) is %d; order must name each dimension from 1 to %d once%s",
          i, d, rank, count > rank ? ", and be 0 for the dimensions that the array has not" : "");
    p->of[f] = d - 1;
  }
  for (f = 0; f < rank; ++f)
    if (!taken[f])
      return Refuse(TENON_ERR_ARG, p,
                    "order does not name dimension %d; order must name each dimension from 1 to "
                    "%d once",
                    f + 1, rank);
  return TENON_SUCCESS;
}

/* Sets p->of: the dimensions of the array in order, or as the user's list `order` says. */
static TenonErrorCode ReadOrder(const CFI_cdesc_t* order, Placing* p) {
  const int rank = p->interior->rank;
  int isLeftOut[kMaxDims], f, d = 0;

  LeaveOut(p->dims, rank, p->shape, p->extent, p->components ? p->dims - 2 : -1, isLeftOut);
  for (f = 0; f < p->dims; ++f)
    p->of[f] = isLeftOut[f] ? rank : d++;
  if (!order)
    return TENON_SUCCESS;
  if (rank > p->dims || (order->dim[0].extent != rank && order->dim[0].extent != p->dims))
    return Refuse(TENON_ERR_ARG, p,
                  "order has %ld elements, but the array has %d dimensions and the tensor %d",
                  (long)order->dim[0].extent, rank, p->dims);
  return FollowOrder(order, p);
}

static TenonErrorCode CheckExtents(const Placing* p) {
  int f;

  for (f = p->dims; f < p->interior->rank; ++f)
    if (p->interior->dim[f].extent != 1)
      return Refuse(TENON_ERR_SHAPE, p, "the array has %d dimensions, but the tensor has %d",
                    (int)p->interior->rank, p->dims);
  for (f = 0; f < p->dims; ++f) {
    if (p->of[f] == p->interior->rank && p->extent[f] != 1)
      return Refuse(
          TENON_ERR_SHAPE, p,
          "the array has %d dimensions, but this rank's block has %ld elements in dimension "
          "%d; only dimensions of 1 element can be left out",
          (int)p->interior->rank, (long)p->extent[f], f + 1);
    if (p->of[f] < p->interior->rank && p->interior->dim[p->of[f]].extent != p->extent[f])
      return Refuse(TENON_ERR_SHAPE, p,
                    "dimension %d: the array has %ld elements, but this rank's block has %ld",
                    f + 1, (long)p->interior->dim[p->of[f]].extent, (long)p->extent[f]);
  }
  return TENON_SUCCESS;
}

/* Sets p->stride from `array`: the whole array, if the caller has passed it, since the descriptor
 * of a section with one element in a dimension need not contain the stride in that dimension. */
static TenonErrorCode FindStrides(const CFI_cdesc_t* array, Placing* p) {
  const CFI_index_t bytes = (CFI_index_t)p->interior->elem_len;
  int f;

  for (f = 0; f < p->dims; ++f) {
    const int d = p->of[f], c = p->dims - 1 - f;

    p->stride[c] = 1;
    if (d == p->interior->rank || array->dim[d].extent == 1)
      continue;
    if (array->dim[d].sm % bytes != 0)
      return Refuse(TENON_ERR_SUPPORT, p,
                    "dimension %d: %ld bytes from one element to the next are no multiple of the "
                    "element's %ld",
                    f + 1, (long)array->dim[d].sm, (long)bytes);
    p->stride[c] = array->dim[d].sm / bytes;
  }
  return TENON_SUCCESS;
}

/* The lowest address of `array` if it had the given strides, which can be negative: u(n:1:-1). */
static const char* Lowest(const CFI_cdesc_t* array, const CFI_cdesc_t* strides) {
  const char* lowest = (const char*)array->base_addr;
  int d;

  for (d = 0; d < array->rank; ++d)
    if (strides->dim[d].sm < 0)
      lowest += (array->dim[d].extent - 1) * strides->dim[d].sm;
  return lowest;
}

/* The dimension with the largest stride of those that are not done yet; -1 at the end. */
static int NextDimension(const CFI_cdesc_t* array, const int done[]) {
  int best = -1, d;

  for (d = 0; d < array->rank; ++d)
    if (!done[d] && (best < 0 || labs(array->dim[d].sm) > labs(array->dim[best].sm)))
      best = d;
  return best;
}

static TenonErrorCode NoPart(const Placing* p) {
  return Refuse(
      TENON_ERR_ARG, p,
      "the interior is no section of `array` without steps; pass both of one array, which "
      "the compiler must not copy (declare it target, allocatable or pointer)");
}

/* Computes how many elements of `whole` are before and after the interior in each dimension, from
 * the distance of the two addresses: for u(1:4, 2:3) in u(0:5, 0:3), with the strides 1 and 6, it
 * is 13 elements = 2 * 6 + 1 * 1, so 1 row and 2 columns are before the interior. */
static TenonErrorCode FindGhosts(const CFI_cdesc_t* whole, const Placing* p, TenonInt before[],
                                 TenonInt after[]) {
  const CFI_cdesc_t* in = p->interior;
  int done[CFI_MAX_RANK] = {0}, d;
  ptrdiff_t rest;

  if (whole->rank != in->rank)
    return Refuse(TENON_ERR_SHAPE, p,
                  "array has %d dimensions, but its interior has %d; pass the same section of "
                  "both, such as array=u(:, :, k)",
                  (int)whole->rank, (int)in->rank);
  for (d = 0; d < in->rank; ++d) {
    if (whole->dim[d].extent < 0)
      return Refuse(TENON_ERR_SHAPE, p,
                    "array is of assumed size, so its last extent is not known; pass a section");
    if (in->dim[d].extent > 1 && in->dim[d].sm != whole->dim[d].sm)
      return NoPart(p);
  }
  rest = Lowest(in, whole) - Lowest(whole, whole);
  while ((d = NextDimension(whole, done)) >= 0) {
    const ptrdiff_t step = labs(whole->dim[d].sm), extent = whole->dim[d].extent;
    const ptrdiff_t below = extent > 1 ? rest / step : 0,
                    above = extent - below - in->dim[d].extent;

    done[d] = 1;
    if (below < 0 || above < 0)
      return NoPart(p);
    rest -= below * step;
    before[d] = whole->dim[d].sm < 0 ? above : below;
    after[d] = whole->dim[d].sm < 0 ? below : above;
  }
  return rest == 0 ? TENON_SUCCESS : NoPart(p);
}

static TenonErrorCode ReadGhosts(const CFI_cdesc_t* whole, Placing* p) {
  TenonInt before[CFI_MAX_RANK], after[CFI_MAX_RANK];
  int f;

  TenonCall(FindGhosts(whole, p, before, after));
  for (f = 0; f < p->dims; ++f)
    if (p->of[f] < p->interior->rank) {
      p->before[p->dims - 1 - f] = before[p->of[f]];
      p->after[p->dims - 1 - f] = after[p->of[f]];
    }
  return TENON_SUCCESS;
}

/* The C call checks the same, but its message would have the dimensions of C. */
static TenonErrorCode CheckHalo(const Placing* p) {
  int f;

  for (f = 0; f < p->dims; ++f) {
    const long low = (long)p->haloLow[f], high = (long)p->haloHigh[f];
    const int c = p->dims - 1 - f;

    if (p->components && f == p->dims - 2 && low + high > 0)
      return Refuse(TENON_ERR_SHAPE, p,
                    "the layout has a halo in dimension %d, that of the components; use halos in "
                    "the other dimensions only",
                    f + 1);
    if (low > p->before[c] || high > p->after[c])
      return Refuse(TENON_ERR_SHAPE, p,
                    "the layout needs %ld + %ld halo elements (low + high) in dimension %d, but "
                    "the array has %ld + %ld ghost cells",
                    low, high, f + 1, (long)p->before[c], (long)p->after[c]);
  }
  return TENON_SUCCESS;
}

/* The extents of an array that is not allocated are undefined; NULL: the argument is absent. */
static TenonErrorCode CheckPresent(const CFI_cdesc_t* array, const char* name, const Placing* p) {
  if (array && !array->base_addr)
    return Refuse(TENON_ERR_NULL, p,
                  "%s is an allocatable array that is not allocated, or a pointer that is not "
                  "associated; allocate it before",
                  name);
  return TENON_SUCCESS;
}

static int IsEmpty(const CFI_cdesc_t* array) {
  int d;

  if (!array->base_addr)
    return 1;
  for (d = 0; d < array->rank; ++d)
    if (array->dim[d].extent == 0)
      return 1;
  return 0;
}

typedef TenonErrorCode (*PlaceFunction)(TenonDTensor, void*, const Placing*);

static TenonErrorCode PlaceToWrite(TenonDTensor x, void* first, const Placing* p) {
  return TenonDTensorPlaceArray(x, first, first ? p->stride : NULL, p->before, p->after, 0);
}

static TenonErrorCode PlaceToRead(TenonDTensor x, void* first, const Placing* p) {
  return TenonDTensorPlaceArrayRead(x, first, first ? p->stride : NULL, p->before, p->after, 0);
}

static TenonErrorCode Place(TenonDTensor x, const CFI_cdesc_t* whole, const CFI_cdesc_t* order,
                            Placing* p, PlaceFunction place) {
  int f, isEmpty = 0;

  TenonCall(CheckType(p, x));
  TenonCall(ReadBlock(x, p));
  for (f = 0; f < p->dims; ++f) {
    isEmpty = isEmpty || p->extent[f] == 0;
    p->before[f] = p->after[f] = 0;
  }
  if (isEmpty && IsEmpty(p->interior))
    return place(x, NULL, p);
  TenonCall(CheckPresent(p->interior, "the array", p));
  TenonCall(CheckPresent(whole, "the array with the ghost cells", p));
  TenonCall(ReadOrder(order, p));
  TenonCall(CheckExtents(p));
  if (whole)
    TenonCall(ReadGhosts(whole, p));
  TenonCall(FindStrides(whole ? whole : p->interior, p));
  TenonCall(CheckHalo(p));
  return place(x, p->interior->base_addr, p);
}

void TenonFPlace(TenonDTensor* x, CFI_cdesc_t* interior, CFI_cdesc_t* array, CFI_cdesc_t* order,
                 int* ierr) {
  Placing p = {.call = "tenon_place", .interior = interior};

  Finish(Place(*x, array, order, &p, PlaceToWrite), ierr);
}

static TenonErrorCode AddComponent(TenonDTensor x, void* first, const Placing* p) {
  Components* components = p->components;
  const int offset = components->count * p->dims;
  int d;

  (void)x; /* not used */
  for (d = 0; d < p->dims; ++d) {
    components->strides[offset + d] = first ? p->stride[d] : 1;
    components->before[offset + d] = p->before[d];
    components->after[offset + d] = p->after[d];
  }
  components->first[components->count++] = first;
  return TENON_SUCCESS;
}

void TenonFPlaceComponents(TenonDTensor* x, CFI_cdesc_t* u, CFI_cdesc_t* u_array, CFI_cdesc_t* v,
                           CFI_cdesc_t* v_array, CFI_cdesc_t* w, CFI_cdesc_t* w_array,
                           CFI_cdesc_t* p, CFI_cdesc_t* p_array, CFI_cdesc_t* q,
                           CFI_cdesc_t* q_array, CFI_cdesc_t* r, CFI_cdesc_t* r_array, int* ierr) {
  CFI_cdesc_t* const blocks[kMaxComponents] = {u, v, w, p, q, r};
  CFI_cdesc_t* const arrays[] = {u_array, v_array, w_array, p_array, q_array, r_array};
  Components list = {.count = 0};
  Placing placing = {.call = "tenon_place_components", .components = &list};
  TenonErrorCode code = TENON_SUCCESS;
  int i;

  for (i = 0; i < kMaxComponents && blocks[i] && code == TENON_SUCCESS; ++i) {
    placing.interior = blocks[i];
    placing.component = i + 1;
    code = Place(*x, arrays[i], NULL, &placing, AddComponent);
  }
  if (code == TENON_SUCCESS && list.first[0] && list.count != placing.channels)
    code = Fail(TENON_ERR_SHAPE, placing.call,
                "%d components were passed, but this rank has %ld channels; pass one for each",
                list.count, (long)placing.channels);
  if (code == TENON_SUCCESS)
    code = TenonDTensorPlaceArrays(*x, 1, list.count, list.first, list.count, list.strides,
                                   list.before, list.after, NULL);
  Finish(code, ierr);
}

void TenonFPlaceRead(TenonDTensor* x, CFI_cdesc_t* interior, CFI_cdesc_t* array, CFI_cdesc_t* order,
                     int* ierr) {
  Placing p = {.call = "tenon_place_read", .interior = interior};

  Finish(Place(*x, array, order, &p, PlaceToRead), ierr);
}

void TenonFShareMemory(TenonPartition* partition, CFI_cdesc_t* array, int* ierr) {
  const Placing placing = {.call = "tenon_partition_share_memory"};
  size_t bytes = array->elem_len;
  TenonErrorCode code;
  int d;

  for (d = 0; d < array->rank && array->base_addr; ++d)
    bytes *= (size_t)array->dim[d].extent;
  if (!array->base_addr)
    code = CheckPresent(array, "the array", &placing);
  else if (array->rank > 0 && !CFI_is_contiguous(array))
    code = Fail(TENON_ERR_ARG, placing.call, "the array is not contiguous; pass all of it");
  else
    code = TenonPartitionShareMemory(*partition, array->base_addr, bytes);
  Finish(code, ierr);
}

void TenonFUnshareMemory(TenonPartition* partition, CFI_cdesc_t* array, int* ierr) {
  Finish(TenonPartitionUnshareMemory(*partition, array->base_addr), ierr);
}
