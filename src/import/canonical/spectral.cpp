// SPDX-License-Identifier: BSD-2-Clause
// Recognises spectral convolutions: Fourier transform of x, products of the lowest modes with
// complex weights, inverse transform. A model writes them as separate operations, which are not
// layers of Tenon:
//   X = fourier(x)                      [n, i, k...], the coefficients of all modes
//   P = modes(X[low block], complex(w)) sum over channels i of X[n, i, k] w[i, o, k]
//   Z = zeros with each P placed at the block of its modes    (concatenate() or pad())
//   y = inverseFourier(Z)
// When inverseFourier() is called, it searches Z for the products (findProducts()) and their inputs
// for the transform and the weights (addProduct()), and appends one value, the whole spectral
// convolution. If Z is anything else, the transforms are computed by products with matrices
// (complex.cpp).
//
// Models also exchange the halves of each dimension, such that the modes begin with the negative
// ones (fftshift), multiply the middle, and exchange them back. Such a middle part consists of two
// slices of X, so each of these has its product with a slice of w (modes()).
//
// In two dimensions of space there are two blocks: in the last dimension modes 0 ... m - 1, in the
// other one either 0 ... m - 1 or the negative modes n - m ... n - 1. Bit s of the index of a
// weight says that its block has the negative modes of spatial dimension s. The functions are
// members of ModelBuilder (model_builder.hpp).
#include "import/canonical/model_builder.hpp"

namespace tenon {

namespace {

// Returns the box that a chain of slices selects from its base; none if a slice has a step.
std::optional<Box> blockOf(const ModelValue* part) {
  if (part->op != ModelOp::Slice) {
    Box box;
    for (const Index extent : part->shape)
      box.push_back({0, extent});
    return box;
  }
  auto box = blockOf(part->inputs[0]);
  if (!box || part->step != 1)
    return std::nullopt;
  Interval& side = (*box)[static_cast<std::size_t>(part->dim)];
  side = {side.begin + part->begin, side.begin + part->end};
  return box;
}

// Whether a transform is over all dimensions of space, in their order.
bool isOverSpace(const ModelValue* spectrum) {
  bool isSpace = static_cast<int>(spectrum->dims.size()) + 2 == spectrum->ndim();
  for (std::size_t i = 0; i < spectrum->dims.size(); ++i)
    isSpace = isSpace && spectrum->dims[i] == static_cast<int>(i) + 2;
  return isSpace;
}

// Returns the value that a chain of slices is taken from.
const ModelValue* baseOf(const ModelValue* part) {
  return part->op == ModelOp::Slice ? baseOf(part->inputs[0]) : part;
}

} // namespace

// The transform of real numbers: the last dimension has n / 2 + 1 coefficients, since those of
// negative modes are the complex conjugates.
ModelBuilder::Value ModelBuilder::fourier(Value x, const std::vector<int>& dims,
                                          const std::string& norm) {
  check(!dims.empty() && !x->isComplex(), "a Fourier transform needs real numbers and dimensions");
  Shape shape = x->shape;
  Index& last = shape[static_cast<std::size_t>(dims.back())];
  check(last >= 1, "a Fourier transform needs at least one point");
  last = last / 2 + 1;
  if (x->isKnown()) // numbers, that are rounded as PyTorch does
    return ofParts(transformed(x, dims, norm));
  ModelValue* result = make(ModelOp::Fourier, {x}, shape);
  result->dims = dims;
  result->function = norm;
  return result;
}

ModelBuilder::Value ModelBuilder::complex(Value pairs) {
  check(pairs->ndim() >= 1 && pairs->shape.back() == 2, "a complex tensor needs pairs of numbers");
  if (const Value whole = isComputingPairs_ ? nullptr : unpaired(pairs))
    return whole;
  return complexes_[pairs] =
             make(ModelOp::Complex, {pairs}, {pairs->shape.begin(), pairs->shape.end() - 1});
}

// One product per mode: sum over i of x[n, i, k] w[i, o, k].
ModelBuilder::Value ModelBuilder::modes(Value coefficients, Value weight) {
  check(coefficients->ndim() >= 3 && weight->ndim() == coefficients->ndim() &&
            weight->shape[0] == coefficients->shape[1],
        "a product of modes needs coefficients [n, i, k...] and a weight [i, o, k...]");
  // Modes of both signs that are joined have a product each.
  if (coefficients->op == ModelOp::Concatenate && coefficients->dim >= 2) {
    ModelValues products;
    Index begin = 0;
    for (const Value piece : coefficients->inputs) {
      const Index end = begin + piece->shape[static_cast<std::size_t>(coefficients->dim)];
      products.push_back(modes(piece, slice(weight, coefficients->dim, begin, end)));
      begin = end;
    }
    return concatenate(products, coefficients->dim);
  }
  Shape shape = coefficients->shape;
  shape[1] = weight->shape[1];
  return make(ModelOp::Modes, {coefficients, weight}, shape);
}

// A slice along another dimension than that of a concatenation or a padding is that of its parts,
// and a slice of modes is the product of fewer modes. Null for other values.
ModelBuilder::Value ModelBuilder::sliceOfSpectrum(Value z, int dim, Index begin, Index end) {
  const auto part = [&](Value x) { return slice(x, dim, begin, end); };
  if (z->op == ModelOp::Concatenate && z->dim != dim) {
    ModelValues parts;
    for (const Value piece : z->inputs)
      parts.push_back(part(piece));
    return concatenate(parts, z->dim);
  }
  if (z->op == ModelOp::Pad && z->dim != dim && z->modes[0] == "values" && z->padValue == 0.0)
    return pad(part(z->inputs[0]), z->dim, z->low[0], z->high[0], "values");
  if (z->op == ModelOp::Modes && dim >= 2)
    return modes(part(z->inputs[0]), part(z->inputs[1]));
  if (z->op == ModelOp::Add && z->inputs[0]->shape == z->inputs[1]->shape)
    return binary("add", part(z->inputs[0]), part(z->inputs[1]));
  return nullptr;
}

// fftshift and its inverse exchange the two halves of a dimension.
ModelBuilder::Value ModelBuilder::rolledSpectrum(Value z, int dim, Index by) {
  const Index n = z->shape[static_cast<std::size_t>(dim)];
  return concatenate({slice(z, dim, n - by, n), slice(z, dim, 0, n - by)}, dim);
}

// Appends to `products` each product of modes that z is assembled from; `begin` is the position of
// z's first element in the whole spectrum. Returns false if z contains anything else but zeros.
bool ModelBuilder::findProducts(Value z, std::vector<Index> begin,
                                std::vector<PlacedProduct>& products) const {
  constexpr std::size_t kMaxProducts = 8;
  if (z->op == ModelOp::Zeros || (z->isConstant() && isFilledWith(z, 0)))
    return true;
  if (z->op == ModelOp::Modes && products.size() < kMaxProducts) {
    Box box;
    for (std::size_t d = 0; d < begin.size(); ++d)
      box.push_back({begin[d], begin[d] + z->shape[d]});
    products.push_back({box, z});
    return true;
  }
  // A concatenation or padding places its parts at offsets; zeros contribute nothing.
  const auto d = static_cast<std::size_t>(z->dim);
  if (z->op == ModelOp::Pad && z->modes[0] == "values" && z->padValue == 0.0) {
    begin[d] += z->low[0];
    return findProducts(z->inputs[0], begin, products);
  }
  if (z->op == ModelOp::Add && z->inputs[0]->shape == z->inputs[1]->shape)
    return findProducts(z->inputs[0], begin, products) &&
           findProducts(z->inputs[1], begin, products);
  if (z->op != ModelOp::Concatenate)
    return false;
  for (const Value piece : z->inputs) {
    if (!findProducts(piece, begin, products))
      return false;
    begin[d] += piece->shape[d];
  }
  return true;
}

// Adds the weight of a product of modes to `weights`. Returns false if the product does not belong
// to the same spectral convolution as the products before.
bool ModelBuilder::addProduct(const PlacedProduct& placed, Value z, const std::string& norm,
                              SpectralWeights& weights) {
  const auto& [to, product] = placed;
  const Value pairs = product->inputs[1], block = product->inputs[0], spectrum = baseOf(block);
  const auto from = blockOf(block);
  if (pairs->op != ModelOp::Complex || !pairs->inputs[0]->isConstant() ||
      spectrum->op != ModelOp::Fourier || spectrum->function != norm || !isOverSpace(spectrum) ||
      spectrum->ndim() != z->ndim() || !from ||
      (weights.source && weights.source != spectrum->inputs[0]))
    return false;
  weights.source = spectrum->inputs[0];
  const Value weight = pairs->inputs[0];
  const std::vector<Index> modes(weight->shape.begin() + 2, weight->shape.end() - 1);
  if (!weights.counts.empty() && weights.counts != modes)
    return false;
  weights.counts = modes;
  // Boxes of the product in z, and of its input in the spectrum: equal except for the channels.
  Box expected = {to[0], {0, z->shape[1]}};
  std::size_t signs = 0; // bit s: negative modes of spatial dimension s
  for (std::size_t s = 0; s < modes.size(); ++s) {
    const bool isHigh = s + 1 < modes.size() && to[s + 2].begin != 0;
    const Index n = spectrum->shape[s + 2];
    expected.push_back(isHigh ? Interval{n - modes[s], n} : Interval{0, modes[s]});
    signs |= isHigh ? std::size_t(1) << s : 0;
  }
  if (to != expected || weights.weights[signs])
    return false;
  expected[1] = {0, spectrum->shape[1]};
  weights.weights[signs] = weight;
  return *from == expected;
}

// Returns the weights of a spectral convolution whose output has the spectrum z; none if z is not
// one.
std::optional<ModelBuilder::SpectralWeights>
ModelBuilder::spectralWeights(Value z, const Shape& shape, const std::string& norm) const {
  const std::size_t signs = shape.size() - 3; // dimensions with modes of both signs
  std::vector<PlacedProduct> products;
  if (!findProducts(z, std::vector<Index>(z->shape.size(), 0), products) ||
      products.size() != std::size_t(1) << signs)
    return std::nullopt;
  SpectralWeights weights;
  weights.weights.resize(products.size(), nullptr);
  for (const PlacedProduct& placed : products)
    if (!addProduct(placed, z, norm, weights))
      return std::nullopt;
  // The layer sets missing modes at the end of the last dimension to 0.
  for (std::size_t s = 0; s <= signs; ++s) {
    const Index n = weights.source->shape[s + 2], modes = z->shape[s + 2];
    if (shape[s + 2] != n ||
        (s < signs ? modes != n || 2 * weights.counts[s] > n : modes > n / 2 + 1))
      return std::nullopt;
  }
  return weights;
}

// The products of a spectral convolution are those of the lowest modes (of both signs in all
// dimensions but the last); all other modes are 0.
ModelBuilder::Value ModelBuilder::inverseFourier(Value z, const std::vector<int>& dims,
                                                 const std::vector<Index>& size,
                                                 const std::string& norm) {
  check(!dims.empty() && size.size() == dims.size(),
        "an inverse Fourier transform needs a size for each of its dimensions");
  Shape shape = z->shape;
  bool isOfSpace =
      z->ndim() >= 3 && z->ndim() <= 5 && static_cast<int>(dims.size()) + 2 == z->ndim();
  for (std::size_t i = 0; i < dims.size(); ++i) {
    check(size[i] >= 1, "an inverse Fourier transform needs at least one point");
    isOfSpace = isOfSpace && dims[i] == static_cast<int>(i) + 2;
    shape[static_cast<std::size_t>(dims[i])] = size[i];
  }
  checkShape(shape);
  if (dims.size() == 1 && dims[0] == z->ndim() - 1 && tables_ == ModelTables::Computed)
    if (const Value y = inverseHarmonics(z, size[0], norm))
      return y;
  const std::optional<SpectralWeights> weights =
      isOfSpace ? spectralWeights(z, shape, norm) : std::nullopt;
  if (!weights)
    return realInverseFourier(z, dims, size, norm);
  ModelValue* result = make(ModelOp::Spectral, {weights->source}, shape);
  result->inputs.insert(result->inputs.end(), weights->weights.begin(), weights->weights.end());
  result->modeCount = weights->counts;
  return result;
}

} // namespace tenon
