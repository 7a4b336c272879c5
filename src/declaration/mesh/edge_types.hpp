// SPDX-License-Identifier: BSD-2-Clause
// The layer types on edges of a mesh, declared in a header because their kernels
// (layer/mesh/mesh.cpp) read their settings. Below, e is an edge from the node source(e) to the
// node target(e), and w its weight.
#pragma once

#include "declaration/mesh/edge_declaration.hpp"

namespace tenon {

// y[e] = [ x[target(e)], s[source(e)], f[e] ], joined along dimension 1.
class GatherDeclaration final : public EdgeDeclaration {
public:
  GatherDeclaration();
  // -1: one or more inputs.
  int inputCount() const override { return -1; }
  std::string inputAdvice() const override;
  Shape outputShape(const std::vector<Shape>& inputs) const override;
  Form form(const Layouts& inputs, const Choice& choice) const override;
  MapList maps(const Form& form, const Layouts& storage) const override;
  std::string summary() const override;

  // A part of each output row, and the name of the kernel that writes it.
  struct Part {
    const char* name;
    const Edges::End* end; // null: features of the edges
    int input;
  };
  // The parts in the order in which they are joined.
  std::vector<Part> parts(std::size_t inputs) const;
};

// a[i] = the sum, mean or maximum of w m[e] over the edges e of node i
class SegmentSumDeclaration final : public EdgeDeclaration {
public:
  SegmentSumDeclaration();
  Shape outputShape(const std::vector<Shape>& inputs) const override;
  Form form(const Layouts& inputs, const Choice& choice) const override;
  MapList maps(const Form& form, const Layouts& storage) const override;
  std::string summary() const override;

  const Edges::End& end() const;
  bool isMean() const { return text("aggregation") == "mean"; }
  bool isMaximum() const { return text("aggregation") == "max"; }
};

// y[i] = sum over the edges e into i of w x[source(e)]
class SparseMatrixDeclaration final : public EdgeDeclaration {
public:
  SparseMatrixDeclaration();
  Shape outputShape(const std::vector<Shape>& inputs) const override;
  Form form(const Layouts& inputs, const Choice& choice) const override;
  MapList maps(const Form& form, const Layouts& storage) const override;
  std::string summary() const override;
};

// y[i,h,:] = sum over the edges e into i of a[e,h] v[e,h,:], where a[:,h] is the softmax of s[:,h]
// over the edges into i.
class EdgeAttentionDeclaration final : public EdgeDeclaration {
public:
  EdgeAttentionDeclaration();
  int inputCount() const override { return 2; }
  std::string inputAdvice() const override;
  Shape outputShape(const std::vector<Shape>& inputs) const override;
  Form form(const Layouts& inputs, const Choice& choice) const override;
  MapList maps(const Form& form, const Layouts& storage) const override;
  std::string summary() const override;
};

} // namespace tenon
