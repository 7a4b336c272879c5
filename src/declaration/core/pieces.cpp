// SPDX-License-Identifier: BSD-2-Clause
// Decides whether a layer with windows, such as a convolution, computes its output in pieces. The
// first piece is the interior of the rank's block, which reads no halo and is computed during the
// halo exchange; the others are strips along the sides, one kernel call each:
//
//   whole       exchange the halo | compute all
//   in pieces   exchange the halo
//               compute interior  | compute strips
//
// The setting `overlap` of the layer is on, off or auto. For auto, an upper bound of the time that
// pieces save is compared with an estimate of their cost. Set-up and planner call the same
// function, and all ranks decide equally, since the bounds follow from the layouts.
#include "declaration/core/pieces.hpp"

#include <algorithm>

namespace tenon {

namespace {

// Duration in seconds of one more kernel call, including the reorders (copies of arrays into other
// formats) of the library oneDNN: an estimate, the same for all machines and shapes.
constexpr double kStripSeconds = 1e-5;

// Upper bound of the time saved. Computed as a whole, the layer reads an array with space for the
// halo, so it waits until the rank's block has been copied there and a message has arrived. The
// interior reads the block where it is and waits for neither. The largest block of any rank counts,
// since all ranks must decide equally.
double secondsSaved(const Layout& plain, Index elementBytes, const PieceRates& rates) {
  Index largestBlock = 1;
  for (int d = 0; d < plain.ndim(); ++d) {
    Index widest = 0;
    for (int part = 0; part < plain.parts(d); ++part)
      widest = std::max(widest, plain.owned(d, part).size());
    largestBlock *= widest;
  }
  return rates.latency + double(largestBlock * elementBytes) / rates.copyBandwidth;
}

} // namespace

Form formThatRuns(const Declaration& declaration, Index elementBytes,
                  const std::optional<PieceRates>& rates,
                  const std::function<Form(bool inPieces)>& formOf) {
  const bool canOverlap = declaration.settings().has("overlap");
  const std::string requested = canOverlap ? declaration.value<std::string>("overlap") : "off";
  // Without rates (on the device) the saving is unknown: pieces are used only if required.
  if (requested == "off" || (requested == "auto" && !rates))
    return formOf(/*inPieces=*/false);
  Form form = formOf(/*inPieces=*/true);
  const std::size_t strips = form.pieces.empty() ? 0 : form.pieces.size() - 1;
  const bool saves =
      strips > 0 && rates &&
      secondsSaved(form.uses.front(), elementBytes, *rates) > double(strips) * kStripSeconds;
  // Without strips the form has no pieces, so it is already the one that computes the whole.
  return requested == "on" || saves || strips == 0 ? form : formOf(false);
}

} // namespace tenon
