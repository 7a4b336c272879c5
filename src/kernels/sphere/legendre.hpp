// SPDX-License-Identifier: BSD-2-Clause
// The Legendre part of spherical harmonic transforms on one rank. A field on the sphere (rows.hpp)
// whose circles of latitude have Fourier coefficients X[y,m] corresponds to spherical harmonic
// coefficients c[m,l], and both directions are sums with one table for each order m:
//
//   c[m,l] = sum over y of T_m[l,y] X[y,m]   or   X[y,m] = sum over l of T_m[l,y] c[m,l]
//
//   analysis    T_m[l,y] = f(l,m) (2 pi / N) w_y P_lm(t_y), N the number of columns
//   synthesis   T_m[l,y] = e_m P_lm(t_y) / f(l,m), e_m = 1 for m = 0 and N / 2, else 2
//
// where f is the norm times (-1)^m if `hasSign`. Each direction is the adjoint of the other one
// with the same table, which leads to four passes. With `southFirst` row 0 is the southernmost. If
// `isFull`, an analysis on equidistant rows is exact for all degrees that they resolve: the lines X
// are continued to Gauss nodes by their own cosines (m even) or sines (m odd), and the weights of
// these nodes are used.
//
// A rank can have any block of rows, orders and degrees: for a block of rows (degrees) the sums are
// partial. Orders are stored folded (orderAtPlace()), and coefficients with l < m are 0. Example:
// all of a Gauss grid of 64 x 128 points to 64 degrees is SphereLegendre<double>(context, backend,
// {.rows = 64, .columns = 128, .degrees = 64, .orders = 64}, {0, 64, 0, 64, 0, 64}, fields).
#pragma once

#include "kernels/base/backend.hpp"
#include "kernels/base/context.hpp"
#include "kernels/sphere/recurrence.hpp"
#include "kernels/sphere/rows.hpp"

#include <array>

namespace tenon {

struct SphereTable {
  Index rows, columns, degrees, orders; // of the whole sphere
  SphereGrid grid = SphereGrid::Gauss;
  bool isSynthesis = false;
  bool isSchmidt = false; // f = sqrt(4 pi / (2l+1)), else 1
  bool hasSign = true;
  bool southFirst = false;
  bool isFull = false;

  // All factors of T_m[l,y] that do not depend on the row.
  double factor(Index l, Index m) const;
  // Whether lines are continued to Gauss nodes.
  bool continuesLines() const;
};

// The block of a rank: the first index and the number of rows, of places of orders, and of degrees.
struct SphereBlock {
  Index row, rows, place, places, degree, degrees;
};

// Floating-point operations of one of the sums below.
double legendreFlops(const SphereTable& table, const SphereBlock& block, Index fields);

// The transform of meridians between rows and degrees, on a rank's block.
template <class T>
class SphereLegendre {
public:
  // `fields` is the maximum number of fields, batch times channels.
  SphereLegendre(KernelContextPtr context, Backend backend, const SphereTable& table,
                 const SphereBlock& block, Index fields);

  // x is [fields, rows, places, 2], c [fields, places, degrees, 2].
  void toDegrees(Index fields, const T* x, T* c);
  void toRows(Index fields, const T* c, T* x);

  // Bytes of the kernel's own memory.
  Index bytes() const;

private:
  // A row and its mirror image beyond the equator, as indices into the block; -1 if the block does
  // not have it. `node` is the index of the northern row in the grid.
  struct Pair {
    Index node, north, south;
  };
  // The scratch of a thread. Sums and differences of pairs of rows are [order, parity, pair,
  // width], where width = 2 fields, products [degree, width], even l - m before odd ones.
  struct Work {
    T *folded, *continued, *products, *panel;
    double* recurrence;
  };
  // The degrees of an order in the block: the first one, and the numbers with even and odd l - m.
  struct Degrees {
    Index first, even, odd;
  };

  void findPairs();
  void addContinuation();
  void reserve(Index fields);
  void makeDeviceTables();
  std::vector<T> rowTable(Index place) const;
  Degrees degreesOf(Index place) const;
  Index pairs() const noexcept { return static_cast<Index>(pairs_.size()); }
  Work workOf(int thread);
  template <class Body>
  void eachGroup(Index width, const Body& body);
  void fillPanel(Index place, Index first, Index count, const Degrees& degrees, T* panel,
                 double* scratch) const;
  void fold(Index fields, Index first, Index count, const T* x, T* folded) const;
  void unfold(Index fields, Index first, Index count, const T* folded, T* x) const;
  void multiply(Index place, Index width, bool toDegrees, const Work& work, T* nodes);
  void continueLines(Index place, Index width, bool transposed, T* lines, T* nodes);
  void copyDegrees(Index fields, Index place, bool toProducts, T* products, const T* from,
                   T* to) const;
  void onDevice(Index fields, bool toDegrees, const T* from, T* to);

  KernelContextPtr context_;
  Backend backend_;
  SphereTable table_;
  SphereBlock block_;
  std::vector<Pair> pairs_;
  LegendreRecurrence recurrence_; // at the pairs, or at the Gauss nodes if lines are continued
  std::vector<double> weights_;   // by node of the recurrence
  std::array<std::vector<T>, 4> continuation_; // [nodes, pairs], by parity of m, then of l - m
  Index panelNodes_ = 0;                       // nodes of a panel
  ThreadScratch folded_, continued_, products_, panel_, sweep_;
  ReadList<T> deviceTables_; // [place, row, degree]
};

} // namespace tenon
