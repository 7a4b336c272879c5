// SPDX-License-Identifier: BSD-2-Clause
#include "declaration/window_pieces.hpp"

#include "declaration/window_layout.hpp"

#include <algorithm>
#include <array>

namespace tenon {

namespace {

enum Where { kBelow, kInside, kAbove, kAll };

// The outputs of each part of one dimension: below its interior, inside, above, and all.
using PartOutputs = std::array<Interval, 4>;

std::vector<PartOutputs> cutParts(const Window& window, const Layout& plain, const Layout& output,
                                  int dim) {
  std::vector<PartOutputs> parts;
  for (int part = 0; part < plain.parts(dim); ++part) {
    const Interval all = output.owned(dim, part);
    const Interval inside =
        interiorOutputs(window, plain.shape()[dim], plain.owned(dim, part), all);
    parts.push_back(
        {Interval{all.begin, inside.begin}, inside, Interval{inside.end, all.end}, all});
  }
  return parts;
}

class Cutter {
public:
  Cutter(const std::vector<Window>& windows, const Layout& plain, const Layout& output)
      : windows_(windows), plain_(plain), output_(output) {
    for (int d = kFirstSpatial; d < plain.rank(); ++d)
      parts_.push_back(cutParts(windows[d - kFirstSpatial], plain, output, d));
  }

  bool exists(int dim, Where where) const {
    return std::ranges::any_of(partsOf(dim),
                               [=](const PartOutputs& part) { return !part[where].empty(); });
  }

  // The outputs of one rank that lie `where` in `dim`, inside before it and anywhere after it.
  Box outputs(int position, int dim, Where where) const {
    Box box = output_.box(position);
    if (cells(box) == 0)
      return box;
    for (int d = kFirstSpatial; d < plain_.rank(); ++d)
      box[d] = partsOf(d)[plain_.part(position, d)][whereIn(d, dim, where)];
    return box;
  }

  std::vector<Box> allOutputs(int dim, Where where) const {
    std::vector<Box> boxes;
    for (int position = 0; position < output_.mesh().size(); ++position)
      boxes.push_back(outputs(position, dim, where));
    return boxes;
  }

  // The input that these outputs read.
  Layout use(int dim, Where where) const {
    LayoutSpec spec = plain_.spec();
    for (int d = kFirstSpatial; d < plain_.rank(); ++d)
      spec.margins[d] = margin(d, whereIn(d, dim, where));
    return Layout(std::move(spec));
  }

private:
  static Where whereIn(int d, int dim, Where where) {
    return d < dim ? kInside : d == dim ? where : kAll;
  }
  const std::vector<PartOutputs>& partsOf(int dim) const { return parts_[dim - kFirstSpatial]; }

  // None where everybody reads what he owns.
  std::optional<Margin> margin(int dim, Where where) const {
    const Window& window = windows_[dim - kFirstSpatial];
    Margin margin{.boxes = {}, .low = window.lowMode, .high = window.highMode};
    bool needed = false;
    for (int part = 0; part < plain_.parts(dim); ++part) {
      const Interval owned = plain_.owned(dim, part);
      Interval box = windowBox(window, plain_.shape()[dim], partsOf(dim)[part][where]);
      if (box.empty())
        box = {owned.begin, owned.begin};
      needed |= !(box == owned);
      margin.boxes.push_back(box);
    }
    return needed ? std::optional(std::move(margin)) : std::nullopt;
  }

  const std::vector<Window>& windows_;
  const Layout& plain_;
  const Layout& output_;
  std::vector<std::vector<PartOutputs>> parts_; // of each spatial dimension
};

} // namespace

std::vector<FormPiece> windowPieces(const std::vector<Window>& windows, const Layout& plain,
                                    const Layout& output) {
  const Cutter cutter(windows, plain, output);
  std::vector<FormPiece> pieces = {{plain, cutter.allOutputs(plain.rank(), kInside)}};
  for (int d = kFirstSpatial; d < plain.rank(); ++d)
    for (Where where : {kBelow, kAbove})
      if (cutter.exists(d, where))
        pieces.push_back({cutter.use(d, where), cutter.allOutputs(d, where)});
  return pieces;
}

} // namespace tenon
