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
// Two channels (y, x) of a table with `vectors` are the components of a vector field along the rows
// (or to the north) and along the columns, and correspond to two scalars (s, u) on the sphere of a
// radius a. With D = dP/dt and Q = m P / sin t,
//
//   v_y = (D s + i Q u) / a,   v_x = (i Q s - D u) / a
//
// s is the potential, whose gradient is the part without vorticity, and -u the stream function;
// with `isDivVort` the coefficients are those of divergence -l(l+1) s / a^2 and vorticity l(l+1) u
// / a^2. With southFirst, v_y along the rows is to the north. Tables of vectors and of their
// coefficients are related as those of scalars are, with w / (l(l+1)) in the analysis.
//
// A rank can have any block of rows, orders and degrees: for a block of rows (degrees) the sums are
// partial. Orders are stored folded (orderAtPlace()), and coefficients with l < m are 0. Example:
// all of a Gauss grid of 64 x 128 points to 64 degrees is SphereLegendre<double>(context, backend,
// {.rows = 64, .columns = 128, .degrees = 64, .orders = 64}, {0, 64, 0, 64, 0, 64},
// SphereFields::all(fields)).
#pragma once

#include "kernels/base/backend.hpp"
#include "kernels/base/context.hpp"
#include "kernels/sphere/recurrence.hpp"
#include "kernels/sphere/rows.hpp"

#include <array>
#include <optional>

namespace tenon {

struct SphereVectors {
  bool isDivVort = false;   // the coefficients are those of divergence and vorticity
  bool isNorthward = false; // the first component is to the north, else along the rows
  double radius = 1;

  double ofPotential() const { return isDivVort ? -1 : 1; } // the sign of s in the coefficients
};

struct SphereTable {
  Index rows, columns, degrees, orders; // of the whole sphere
  SphereGrid grid = SphereGrid::Gauss;
  bool isSynthesis = false;
  bool isSchmidt = false; // f = sqrt(4 pi / (2l+1)), else 1
  bool hasSign = true;
  bool southFirst = false;
  bool isFull = false;
  std::optional<SphereVectors> vectors = std::nullopt;

  // All factors of T_m[l,y], or of both tables of vectors, that do not depend on the row.
  double factor(Index l, Index m) const;
  // Whether lines are continued to Gauss nodes.
  bool continuesLines() const;
};

// The block of a rank: the first index and the number of rows, of places of orders, and of degrees.
struct SphereBlock {
  Index row, rows, place, places, degree, degrees;
};

// The fields of an array [batch, channels, ...] that are transformed: some channels of each sample.
// Those of vectors are listed in pairs.
struct SphereFields {
  Index batch = 0, channels = 0;
  std::vector<Index> chosen;

  static SphereFields all(Index fields);
  Index count() const { return batch * static_cast<Index>(chosen.size()); }
};

// Floating-point operations of one of the sums below, for fields that are no components of vectors;
// a component counts as two of them.
double legendreFlops(const SphereTable& table, const SphereBlock& block, Index fields);

// The transform of meridians between rows and degrees, on a rank's block.
template <class T>
class SphereLegendre {
public:
  SphereLegendre(KernelContextPtr context, Backend backend, const SphereTable& table,
                 const SphereBlock& block, SphereFields fields);

  // x is [batch, channels, rows, places, 2], c [batch, channels, places, degrees, 2]; channels that
  // are not chosen are left as they are.
  void toDegrees(const T* x, T* c);
  void toRows(const T* c, T* x);

  // Bytes of the kernel's own memory.
  Index bytes() const;

private:
  // A row and its mirror image beyond the equator, as indices into the block; -1 if the block does
  // not have it. `node` is the index of the northern row in the grid.
  struct Pair {
    Index node, north, south;
  };
  // The scratch of a thread. Sums and differences of pairs of rows are [order, parity, pair,
  // width], where width = 2 fields, products [degree, width], even l - m before odd ones. `turned`
  // has two rows for each node, which the tables D and Q of vectors multiply.
  struct Work {
    T *folded, *continued, *turned, *products, *panel;
    double* recurrence;
  };
  // The degrees of an order in the block: the first one, and the numbers with even and odd l - m.
  struct Degrees {
    Index first, even, odd;
  };

  void findPairs();
  void addContinuation();
  void reserve();
  void makeDeviceTables();
  std::vector<T> rowTable(Index place, Index kind) const;
  void channelOnDevice(Index place, Index kind, bool toDegrees, Index columns, T alpha, T beta,
                       const T* from, T* to);
  void vectorOnDevice(Index place, bool toDegrees, T byD, T byQ, const T* from, const T* other,
                      T* to);
  // The order at a place of the block.
  Index orderOf(Index place) const { return orderAtPlace(block_.place + place, table_.orders); }
  // Tables of an order: two of vectors, D and Q.
  Index kinds() const noexcept { return table_.vectors ? 2 : 1; }
  // The parity about the equator of the lines that a table multiplies for a parity of l - m.
  Index lineParity(Index kind, Index parity) const {
    return table_.vectors && kind == 0 ? 1 - parity : parity;
  }
  const std::vector<T>& continuationOf(Index place, Index parity) const;
  Degrees degreesOf(Index place) const;
  Index pairs() const noexcept { return static_cast<Index>(pairs_.size()); }
  Work workOf(int thread);
  template <class Body>
  void eachGroup(const Body& body);
  void fillPanel(Index place, Index first, Index count, const Degrees& degrees, T* panel,
                 double* scratch) const;
  void fillVectorPanel(Index place, Index first, Index count, const Degrees& degrees, T* panel,
                       double* scratch) const;
  struct VectorSigns {
    T yOfS, xOfU, xOfS, yOfU; // of D in v_y of s and v_x of u, and of i Q in the others
  };
  VectorSigns vectorSigns() const;
  void turn(const T* nodes, T* turned) const;
  void turnBack(const T* turned, T* nodes) const;
  void fold(Index first, Index count, const T* x, T* folded) const;
  void unfold(Index first, Index count, const T* folded, T* x) const;
  void multiply(Index place, bool toDegrees, const Work& work, T* nodes);
  void continueLines(Index place, bool transposed, T* lines, T* nodes);
  void copyDegrees(Index place, bool toProducts, T* products, const T* from, T* to) const;
  void onDevice(bool toDegrees, const T* from, T* to);

  KernelContextPtr context_;
  Backend backend_;
  SphereTable table_;
  SphereBlock block_;
  SphereFields fields_;
  std::vector<Index> fieldAt_; // the number in the array of each field that is transformed
  Index width_ = 0;            // numbers of all fields at a row or degree: two for each field
  std::vector<Pair> pairs_;
  LegendreRecurrence recurrence_; // at the pairs, or at the Gauss nodes if lines are continued
  std::vector<double> weights_;   // by node of the recurrence
  std::array<std::vector<T>, 4> continuation_; // [nodes, pairs], by parity of m, then of l - m
  Index panelNodes_ = 0;                       // nodes of a panel
  ThreadScratch folded_, continued_, turned_, products_, panel_, sweep_;
  ReadList<T> deviceTables_; // [place, kind, row, degree]
};

} // namespace tenon
