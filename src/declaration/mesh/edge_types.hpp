// SPDX-License-Identifier: BSD-2-Clause
// What the types that work with a mesh's edges share with their kernels.
#pragma once

#include "declaration/core/declaration.hpp"
#include "geometry/mesh/edges.hpp"

namespace tenon {

// A type that finds its edges by the setting `edges`.
class OfEdges : public Declaration {
public:
  using Declaration::Declaration;
  bool takesLists() const override { return true; }
  SignatureTable rows(const std::vector<Shape>& inputs) const override;
  // Throws TENON_ERR_STATE if there are none.
  const Edges& edges() const;

protected:
  // The form but for what differs: used as the layouts say.
  Form formOf(const Layouts& inputs, Layouts uses, Layout output, const Choice& choice) const;
  // The layout in which an input is used whose rows lie as the pattern's. Throws TENON_ERR_LAYOUT, naming `what` the
  // rows are, if they do not.
  Layout useOf(const Layout& input, const Layout& pattern, const char* what) const;
};

// y[e] = [ x[target(e)], s[source(e)], f[e] ], joined along dimension 1.
class GatherDeclaration final : public OfEdges {
public:
  GatherDeclaration();
  // -1: one or more.
  int inputCount() const override { return -1; }
  std::string inputAdvice() const override;
  Shape outputShape(const std::vector<Shape>& inputs) const override;
  Form form(const Layouts& inputs, const Choice& choice) const override;
  MapList maps(const Form& form, const Layouts& storage) const override;
  std::string summary() const override;

  // A part of each row of the output, by the name of its kernel.
  struct Part {
    const char* name;
    const Edges::End* end; // null: features of the edges
    int input;
  };
  // In the order in which they are joined.
  std::vector<Part> parts(std::size_t inputs) const;
};

// a[i] = the sum, mean or maximum of w m[e] over the edges e of node i.
class SegmentSumDeclaration final : public OfEdges {
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
class SparseMatrixDeclaration final : public OfEdges {
public:
  SparseMatrixDeclaration();
  Shape outputShape(const std::vector<Shape>& inputs) const override;
  Form form(const Layouts& inputs, const Choice& choice) const override;
  MapList maps(const Form& form, const Layouts& storage) const override;
  std::string summary() const override;
};

// y[i,h,:] = sum over the edges e into i of a[e,h] v[e,h,:], where a[:,h] is the softmax of s[:,h] over the edges into i.
class EdgeAttentionDeclaration final : public OfEdges {
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
