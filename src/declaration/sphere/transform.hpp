// SPDX-License-Identifier: BSD-2-Clause
// What the types with spherical harmonic transforms share: settings, checks of shapes, the layouts
// between their kernels, and the kernels. A transform is two kernels each way:
//
//   fourier    x[n,c,y,x] -> X[n,c,y,m,2]        legendre   X -> c[n,c,m,l,2]
//   synthesis  c -> Y[n,c,y,m,2]                 inverse    Y -> y[n,c,y,x]
//
// The first needs whole circles of latitude or adds partial sums, the second whole meridians or
// adds partial sums, and likewise back; conversions between them redistribute the arrays. m is
// stored folded (kernels/sphere/rows.hpp), l in its natural order. Definitions of the sums are in
// kernels/sphere.
#pragma once

#include "declaration/core/declaration.hpp"
#include "declaration/kernel/kernel_place.hpp"
#include "declaration/sphere/output_field.hpp"
#include "kernels/sphere/legendre.hpp"

#include <algorithm>
#include <array>

namespace tenon {

// The settings of all types with transforms, followed by those of one type.
template <std::size_t N>
constexpr auto sphereSettings(const std::array<OptionSpec, N>& own) {
  constexpr OptionSpec kShared[] = {
      {"degrees", OptionSpec::Int, nullptr,
       "number of degrees L: l = 0, ..., L - 1, at most the number of rows", nullptr, atLeast(1)},
      {"orders", OptionSpec::Int, "0",
       "number of orders M: m = 0, ..., M - 1, at most L and columns / 2 + 1; 0: as many as "
       "degrees",
       nullptr, atLeast(0)},
      kSphereGridSetting,
      {"quadrature", OptionSpec::Choice, "automatic",
       "weights of the rows: plain is Gauss's, Clenshaw and Curtis's or Fejer's; full is exact for "
       "all degrees that equidistant rows resolve; automatic: plain for gauss, else full",
       "automatic|plain|full"},
      {"norm", OptionSpec::Choice, "ortho",
       "norm of the harmonics: orthonormal, or Schmidt's, 4 pi / (2 l + 1)", "ortho|schmidt"},
      {"sign", OptionSpec::Flag, "true", "whether the harmonics have the factor (-1)^m"},
      kFirstRowSetting};
  std::array<OptionSpec, std::size(kShared) + N> all{};
  std::copy(std::begin(kShared), std::end(kShared), all.begin());
  std::copy(own.begin(), own.end(), all.begin() + std::size(kShared));
  return all;
}

// The settings of types whose fields can have vectors.
inline constexpr OptionSpec kSphereVectors = {
    "vectors",
    OptionSpec::Ints,
    nullptr,
    "channels that are components of vectors, two for each vector, along the rows and along the "
    "columns; their coefficients are those of the scalars that vector_output names, in this order",
    nullptr,
    atLeast(0)};
inline constexpr OptionSpec kVectorOutput = {
    "vector_output", OptionSpec::Choice, "potentials",
    "coefficients of a vector: potentials (spheroidal and toroidal), or div_vort, those of "
    "divergence and vorticity",
    "potentials|div_vort"};
inline constexpr OptionSpec kVectorDirection = {
    "vector_direction", OptionSpec::Choice, "rows",
    "where the first component of a vector points: along increasing rows, or north", "rows|north"};
inline constexpr OptionSpec kSphereRadius = {"radius", OptionSpec::Real, "1",
                                             "radius of the sphere, for derivatives of vectors"};

// The dimensions of a field, of the coefficients of circles, and of those of the sphere.
inline constexpr int kRowDim = 2, kColumnDim = 3, kCircleOrderDim = 3, kOrderDim = 2,
                     kDegreeDim = 3;

// Short names for the tables of properties.
inline const Property kCopies = Property::broadcast(), kSums = Property::partial(),
                      kOnRoot = Property::root();
inline Property shardOf(int dim) {
  return Property::shard(dim);
}

// Base of the declarations of layers with these transforms.
class SphereDeclaration : public Declaration {
public:
  using Declaration::Declaration;
  std::unique_ptr<ArrayKernel> makeKernel(const KernelPlace& at) const override;

protected:
  Index degrees() const { return integer("degrees"); }
  Index orders() const { return integer("orders") == 0 ? degrees() : integer("orders"); }
  // The channels that are components of vectors, in pairs. Throws TENON_ERR_ARG for channels that
  // do not exist.
  std::vector<Index> vectors(Index channels) const;
  // The table of one direction for fields of this shape [.., rows, columns] on a grid.
  SphereTable tableOf(bool isSynthesis, const Shape& field, const std::string& grid) const;
  // The grid of the layer's output; that of its input is the setting `grid`.
  virtual std::string gridOfOutput() const { return text("grid"); }
  // Throw TENON_ERR_SHAPE if the field has not [batch, channel, rows, columns], or not as many rows
  // and columns as degrees and orders need; if coefficients are not [batch, channel, orders,
  // degrees, 2].
  void checkField(const Shape& field, const std::string& grid, bool isAnalysed) const;
  void checkCoefficients(const Shape& coefficients) const;
  bool isFull(const std::string& grid) const;
  std::string truncation() const; // such as "80 degrees, 80 orders, gauss"

  // Operations of the two kernels of one direction at a position.
  double flopsOf(const SphereTable& table, const Layout& field, const Layout& circles,
                 const Layout& coefficients, int position) const;

private:
  template <class T>
  std::unique_ptr<ArrayKernel> legendreKernel(const KernelPlace& at, bool isSynthesis) const;
};

// The value, in another layout if its own has not the same memory.
ValueId convertedTo(MapList& list, const char* name, ValueId v, const Layout& to);
// The same list of properties with `to` on the axes that have `from`.
Properties replaced(Properties properties, Property from, Property to);

} // namespace tenon
