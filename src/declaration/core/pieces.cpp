// SPDX-License-Identifier: BSD-2-Clause
// Compares an upper bound of the time that pieces save with a lower bound of their cost, which is
// one kernel call per strip. The first piece is the interior, which reads no halo; the others are
// strips.
#include "declaration/core/pieces.hpp"

#include <algorithm>

namespace tenon {

namespace {

// Duration in seconds of one more kernel call, including the reorders of oneDNN.
constexpr double kStripSeconds = 1e-5;

// Upper bound of the time saved: the interior waits neither for the copy of the largest block nor
// for a message.
double secondsSaved(const Layout& plain, Index elementBytes, const PieceRates& rates) {
  Index largestBlock = 1;
  for (int d = 0; d < plain.rank(); ++d) {
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
  if (requested == "off" || (requested == "auto" && !rates))
    return formOf(false);
  Form form = formOf(true);
  const std::size_t strips = form.pieces.empty() ? 0 : form.pieces.size() - 1;
  const bool saves =
      strips > 0 && rates &&
      secondsSaved(form.uses.front(), elementBytes, *rates) > double(strips) * kStripSeconds;
  return requested == "on" || saves || strips == 0 ? form : formOf(false);
}

} // namespace tenon
